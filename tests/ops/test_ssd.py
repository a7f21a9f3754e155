"""SSD: the chunked forms against the loop."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from recollect.ops.ssd import ssd_loop, ssd_matrix, ssd_numba, ssd_torch
from tests.support.judged import assert_same, gradients

Inputs = list[Tensor]
Form = Callable[..., Tensor]
both_forms = pytest.mark.parametrize("form", [ssd_torch, ssd_numba], ids=["torch", "numba"])


def draw(batch: int, length: int, heads: int = 4, groups: int = 2, width: int = 3, state: int = 5) -> Inputs:
    """x, Δ, g, B, C, D in double precision."""
    random = torch.Generator().manual_seed(length)
    shapes = [
        (batch, heads, length, width),
        (batch, heads, length),
        (batch, heads, length),
        (batch, groups, length, state),
        (batch, groups, length, state),
        (heads,),
    ]
    x, dt, g, B, C, D = (torch.randn(*shape, generator=random, dtype=torch.float64) for shape in shapes)
    return [m.requires_grad_() for m in (x, dt.abs().detach(), -g.abs().detach(), B, C, D)]


@both_forms
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_the_chunked_form_equals_the_loop_with_all_gradients(batch: int, length: int, form: Form) -> None:
    inputs = draw(batch, length)
    assert_same(form(*inputs, chunk=8), ssd_loop(*inputs, chunk=8), inputs, rtol=1e-10)


@both_forms
@pytest.mark.parametrize(("heads", "groups", "width", "state"), [(1, 1, 7, 2), (4, 1, 1, 6), (4, 4, 5, 1)])
def test_any_heads_groups_and_widths_work(heads: int, groups: int, width: int, state: int, form: Form) -> None:
    inputs = draw(2, 19, heads, groups, width, state)
    assert_same(form(*inputs, chunk=6), ssd_loop(*inputs, chunk=6), inputs, rtol=1e-10)


@both_forms
@pytest.mark.parametrize(("length", "asked"), [(33, 3), (33, 16), (33, 30), (5, 2), (5, 4)])
def test_asked_rows_equal_the_rows_of_the_loop_with_all_gradients(length: int, asked: int, form: Form) -> None:
    inputs = draw(2, length)
    at = torch.randint(length, (2, asked), generator=torch.Generator().manual_seed(asked))
    judge = torch.take_along_dim(ssd_loop(*inputs, chunk=8), at[:, None, :, None], dim=2)
    assert torch.equal(ssd_loop(*inputs, chunk=8, at=at), judge)
    assert_same(form(*inputs, chunk=8, at=at), judge, inputs, rtol=1e-10)


def test_the_matrix_times_the_inputs_is_the_output() -> None:
    x, dt, g, B, C, D = draw(2, 12)
    M = ssd_matrix(dt, g, B, C, D)
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(M @ x, ssd_loop(x, dt, g, B, C, D, chunk=8), rtol=1e-10, atol=1e-11)


@both_forms
@pytest.mark.parametrize("decay", [1e4, 1e6, 1e30])
def test_one_extreme_decay_drowns_no_other(decay: float, form: Form) -> None:
    exact = [m.detach() for m in draw(2, 33)]
    exact[2][..., 20] *= decay
    y = form(*(m.float() for m in exact), chunk=8)
    torch.testing.assert_close(y.double(), ssd_loop(*exact, chunk=8), rtol=1e-3, atol=1e-4)


@both_forms
@pytest.mark.parametrize("step", [1e-12, 1e-3, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("rate", [1e-6, 1.0, 1e4])
def test_extreme_steps_and_decays_stay_finite_and_true_in_single_precision(
    step: float, rate: float, form: Form
) -> None:
    x, dt, _, B, C, D = draw(2, 33)
    exact = [x, dt * step, -dt * step * rate, B / step, C, D]
    exact = [m.detach().requires_grad_() for m in exact]
    single = [m.detach().float().requires_grad_() for m in exact]
    for at in (None, torch.tensor([[3, 32, 0], [5, 5, 17]])):
        y, judge = form(*single, chunk=8, at=at), ssd_loop(*exact, chunk=8, at=at)
        torch.testing.assert_close(y.double(), judge, rtol=1e-3, atol=1e-3)
        for name, ours, true in zip("xΔgBCD", gradients(y, single), gradients(judge, exact), strict=True):
            assert ours.isfinite().all(), name
            assert (ours.double() - true).norm() <= 2e-3 * true.norm() + 1e-6, name
