"""The trapezoidal step: the chunked forms against the loop."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from recollect.ops.ssd import ssd_loop
from recollect.ops.trapezoid import trapezoid_loop, trapezoid_matrix, trapezoid_numba, trapezoid_torch
from tests.support.judged import assert_same, gradients

Inputs = list[Tensor]
Form = Callable[..., Tensor]
both_forms = pytest.mark.parametrize("form", [trapezoid_torch, trapezoid_numba], ids=["torch", "numba"])


def draw(batch: int, length: int, heads: int = 3, width: int = 4, state: int = 5) -> Inputs:
    """x, Δ, λ, g, B, C, D in double precision."""
    random = torch.Generator().manual_seed(length)
    shapes = [(batch, heads, length, *s) for s in ((width,), (), (), (), (state,), (state,))] + [(heads,)]
    x, dt, lam, g, B, C, D = (torch.randn(*shape, generator=random, dtype=torch.float64) for shape in shapes)
    return [m.requires_grad_() for m in (x, dt.abs(), lam.sigmoid(), -g.abs(), B, C, D)]


@both_forms
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_the_chunked_form_equals_the_loop_with_all_gradients(batch: int, length: int, form: Form) -> None:
    inputs = draw(batch, length)
    assert_same(form(*inputs, chunk=8), trapezoid_loop(*inputs, chunk=8), inputs)


@both_forms
@pytest.mark.parametrize("asked", [3, 30])
def test_asked_rows_equal_the_rows_of_the_loop_with_all_gradients(asked: int, form: Form) -> None:
    inputs = draw(2, 33)
    at = torch.randint(33, (2, asked), generator=torch.Generator().manual_seed(asked))
    judge = torch.take_along_dim(trapezoid_loop(*inputs, chunk=8), at[:, None, :, None], dim=2)
    assert torch.equal(trapezoid_loop(*inputs, chunk=8, at=at), judge)
    assert_same(form(*inputs, chunk=8, at=at), judge, inputs)


def test_the_matrix_times_the_inputs_is_the_output() -> None:
    x, *inputs = draw(2, 12)
    M = trapezoid_matrix(*inputs)
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(M @ x, trapezoid_loop(x, *inputs, chunk=8), rtol=1e-9, atol=1e-11)


def test_with_a_share_of_one_it_is_ssd() -> None:
    x, dt, _, g, B, C, D = draw(2, 12)
    ours = trapezoid_loop(x, dt, torch.ones_like(dt), g, B, C, D, chunk=8)
    torch.testing.assert_close(ours, ssd_loop(x, dt, g, B, C, D, chunk=8))


@both_forms
@pytest.mark.parametrize("decay", [0.0, -1e-6, -50.0, -1e4, -1e30])
@pytest.mark.parametrize("where", [slice(None), 20], ids=["everywhere", "at one token"])
def test_extreme_decays_stay_finite_and_true_in_single_precision(decay: float, where: Any, form: Form) -> None:
    exact = [m.detach() for m in draw(2, 33)]
    exact[3] = -exact[3].abs()
    exact[3][..., where] *= -decay
    exact = [m.requires_grad_() for m in exact]
    single = [m.detach().float().requires_grad_() for m in exact]
    y, judge = form(*single, chunk=8), trapezoid_loop(*exact, chunk=8)
    torch.testing.assert_close(y.double(), judge, rtol=1e-3, atol=1e-3)
    for name, ours, true in zip("xΔλgBCD", gradients(y, single), gradients(judge, exact), strict=True):
        assert ours.isfinite().all(), name
        assert (ours.double() - true).norm() <= 2e-3 * true.norm() + 1e-4, name
