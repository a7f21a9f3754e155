"""The recurrence by doubling against one step at a time, with gradients."""

import pytest
import torch
from torch import Tensor

from recollect.ops.recurrence import recur


def loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The judge."""
    states = []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return torch.stack(states, dim=1)


@pytest.mark.parametrize("length", [1, 2, 3, 32, 33, 100])
def test_doubling_equals_one_step_at_a_time_with_gradients(length: int) -> None:
    torch.manual_seed(0)
    given = [torch.rand(2, length, 3, dtype=torch.double), torch.randn(2, length, 3, dtype=torch.double)]
    given = [m.requires_grad_() for m in (*given, torch.randn(2, 3, dtype=torch.double))]
    weights = torch.randn(2, length, 3, dtype=torch.double)
    ours, judge = recur(*given), loop(*given)
    torch.testing.assert_close(ours, judge, rtol=1e-12, atol=1e-12)
    expected = torch.autograd.grad((judge * weights).sum(), given)
    for one, other in zip(torch.autograd.grad((ours * weights).sum(), given), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_a_decay_that_underflows_is_a_state_forgotten() -> None:
    a, b = torch.full((1, 64, 1), 1e-30), torch.ones(1, 64, 1)
    assert torch.equal(recur(a, b, torch.ones(1, 1)), torch.ones(1, 64, 1))
