"""A fast form beside its judge: outputs and all gradients, in double precision."""

from collections.abc import Sequence

import torch
from torch import Tensor


def gradients(y: Tensor, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Of all inputs, for fixed random weights of the outputs."""
    weights = torch.randn(y.shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64).to(y.dtype)
    return torch.autograd.grad((y * weights).sum(), inputs)


def assert_same(ours: Tensor, judge: Tensor, inputs: Sequence[Tensor], rtol: float = 1e-9) -> None:
    """Equal outputs and equal gradients of all inputs."""
    torch.testing.assert_close(ours, judge, rtol=rtol, atol=1e-11)
    for a, b in zip(gradients(ours, inputs), gradients(judge, inputs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-10)
