"""Diagonal plus rank one: the chunked forms against the loop."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.dplr import dplr_loop, dplr_matrix, dplr_numba, dplr_torch
from tests.support.judged import assert_same, gradients

Inputs = list[Tensor]
Form = Callable[..., Tensor]
both_forms = pytest.mark.parametrize("form", [dplr_torch, dplr_numba], ids=["torch", "numba"])
every_rule = pytest.mark.parametrize("rule", [0, 1, 2], ids=["decay", "delta", "general"])


def draw(
    batch: int, length: int, rule: int, heads: int = 2, key: int = 5, value: int = 3, decay: float = 1.0
) -> Inputs:
    """q, k, v, g and perhaps a and b in double precision; b takes away part of what a reads: no state explodes."""
    random = torch.Generator().manual_seed(length)
    shapes = [key, key, value, key, key, key]
    q, k, v, g, a, b = (torch.randn(batch, heads, length, s, generator=random, dtype=torch.float64) for s in shapes)
    k, a = F.normalize(k, dim=-1), F.normalize(a, dim=-1)
    b = -a * b.sigmoid()
    return [m.requires_grad_() for m in (q, k, v, -(g * decay).abs().detach(), a, b)[: 4 + rule]]


def run(form: Form, inputs: Inputs, chunk: int = 8, at: Tensor | None = None) -> Tensor:
    return form(*inputs, *[None] * (6 - len(inputs)), chunk, at)


@both_forms
@every_rule
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_the_chunked_form_equals_the_loop_with_all_gradients(batch: int, length: int, rule: int, form: Form) -> None:
    inputs = draw(batch, length, rule)
    assert_same(run(form, inputs), run(dplr_loop, inputs), inputs)


@both_forms
@every_rule
@pytest.mark.parametrize(("heads", "key", "value"), [(1, 1, 7), (3, 9, 1), (1, 40, 24)])
def test_any_heads_and_widths_work(heads: int, key: int, value: int, rule: int, form: Form) -> None:
    inputs = draw(2, 19, rule, heads, key, value)
    assert_same(run(form, inputs, chunk=6), run(dplr_loop, inputs), inputs)


@both_forms
@every_rule
@pytest.mark.parametrize("decay", [0.0, 3.0, 30.0, 1e4])
def test_chunks_of_any_decay_equal_the_loop_with_all_gradients(decay: float, rule: int, form: Form) -> None:
    inputs = draw(2, 70, rule, decay=decay)
    assert_same(run(form, inputs, chunk=64), run(dplr_loop, inputs), inputs)


@every_rule
@pytest.mark.parametrize("decay", [0.0, 3.0, 1e4])
def test_where_no_number_may_be_looked_at_any_decay_is_right(
    decay: float, rule: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.ops.dplr._may_ask", lambda g: False)  # as on a device that must not wait
    inputs = draw(2, 70, rule, decay=decay)
    assert_same(run(dplr_torch, inputs, chunk=64), run(dplr_loop, inputs), inputs)


@both_forms
@every_rule
@pytest.mark.parametrize("asked", [3, 30])
def test_asked_rows_equal_the_rows_of_the_loop_with_all_gradients(asked: int, rule: int, form: Form) -> None:
    inputs = draw(2, 33, rule)
    at = torch.randint(33, (2, asked), generator=torch.Generator().manual_seed(asked))
    judge = torch.take_along_dim(run(dplr_loop, inputs), at[:, None, :, None], dim=2)
    assert torch.equal(run(dplr_loop, inputs, at=at), judge)
    assert_same(run(form, inputs, at=at), judge, inputs)


@every_rule
def test_the_matrix_times_the_values_is_the_output(rule: int) -> None:
    inputs = draw(2, 12, rule)
    q, k, v, g, *ab = inputs
    M = dplr_matrix(q, k, g, *ab, *[None] * (2 - rule))
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(M @ v, run(dplr_loop, inputs), rtol=1e-9, atol=1e-11)


@both_forms
@every_rule
@pytest.mark.parametrize("decay", [0.0, -1e-6, -1.0, -20.0, -1e4, -1e30])
@pytest.mark.parametrize("where", ["everywhere", "at one token", "in one channel"])
def test_extreme_decays_stay_finite_and_true_in_single_precision(
    decay: float, where: str, rule: int, form: Form
) -> None:
    q, k, v, g, *ab = draw(2, 70, rule)
    if rule == 1:
        ab = [k]  # the delta rule's own
    here = torch.zeros_like(g)
    here[{"everywhere": (...,), "at one token": (..., 20, slice(None)), "in one channel": (..., 1)}[where]] = 1
    exact = [m.detach().requires_grad_() for m in (q, k, v, decay * here * g.abs(), *ab)]
    single = [m.detach().float().requires_grad_() for m in exact]
    y, judge = run(form, single, chunk=64), run(dplr_loop, exact)
    torch.testing.assert_close(y.double(), judge, rtol=1e-3, atol=1e-4)
    for name, ours, true in zip("qkvgab", gradients(y, single), gradients(judge, exact), strict=False):
        assert ours.isfinite().all(), name
        assert (ours.double() - true).norm() <= 2e-3 * true.norm() + 1e-4, name
