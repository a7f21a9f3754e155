"""Based against flash-linear-attention's plain version: outputs, input gradient, parameter gradients."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.based import Based
from tests.support.oracles.based import based_chunks, based_exact, based_parallel

EXACT = {"rtol": 1e-9, "atol": 1e-10}
# The oracle adds 1e-6 to the sum of the weights; the difference is that and grows with the keys, so these stay small.
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def make(length: int, n_heads: int, kernel: str, size: float = 2.0) -> tuple[Based, Tensor]:
    torch.manual_seed(0)
    mixer = build_mixer("based", d_model=16, length=length, n_heads=n_heads, d_feature=4, kernel=kernel).double()
    assert isinstance(mixer, Based)
    return mixer, torch.randn(2, length, 16, dtype=torch.float64).mul_(size).requires_grad_()


def compare(mixer: Based, oracle: Callable[[Tensor], Tensor], x: Tensor, tolerance: dict[str, float]) -> None:
    inputs = [x, *mixer.parameters()]
    results = []
    for f in (mixer, oracle):
        y = f(x)
        direction = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1))
        results.append([y, *torch.autograd.grad((y * direction).sum(), inputs)])
    for ours, other in zip(*results, strict=True):
        torch.testing.assert_close(ours, other, **tolerance)


@pytest.mark.parametrize("kernel", ["torch", "loop"])
@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("length", [1, 7, 33, 200])
def test_based_equals_the_parallel_oracle(length: int, n_heads: int, kernel: str) -> None:
    mixer, x = make(length, n_heads, kernel)
    compare(mixer, based_exact(mixer), x, EXACT)


@pytest.mark.parametrize("n_heads", [1, 2])
def test_based_equals_the_oracles_that_normalise_but_for_their_epsilon(n_heads: int) -> None:
    mixer, x = make(64, n_heads, "torch", size=1.0)
    compare(mixer, based_parallel(mixer), x, CLOSE)
    compare(mixer, based_chunks(mixer, 16), x, CLOSE)


@pytest.mark.parametrize("length", [33, 200])
def test_the_window_joins_in_at_any_length(length: int) -> None:
    torch.manual_seed(0)
    mixer = build_mixer("based", d_model=16, length=length, n_heads=2, d_feature=4, window=8).double()
    assert isinstance(mixer, Based)
    x = torch.randn(2, length, 16, dtype=torch.float64)
    M, v = mixer.mixing(x)
    torch.testing.assert_close(M.sum(dim=-1), torch.full_like(M[..., 0], 2.0), **EXACT)
    torch.testing.assert_close(mixer(x), mixer.finish(M @ v, x), **EXACT)


@pytest.mark.parametrize("options", [{"d_feature": 3}, {"d_feature": 4, "window": 4}])
def test_rotary_positions_refuse_an_odd_width(options: dict[str, int]) -> None:
    with pytest.raises(BadInput, match="rope needs an even"):
        build_mixer("based", d_model=7, positions="rope", **options)
