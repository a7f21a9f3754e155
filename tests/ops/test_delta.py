"""The delta rule, plain and gated: the chunked forms against the loop."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.delta import delta_loop, delta_matrix, delta_numba, delta_torch
from tests.support.judged import assert_same, gradients

Inputs = list[Tensor]
Form = Callable[..., Tensor]
both_forms = pytest.mark.parametrize("form", [delta_torch, delta_numba], ids=["torch", "numba"])
both_rules = pytest.mark.parametrize("gated", [False, True], ids=["plain", "gated"])


def draw(batch: int, length: int, gated: bool, heads: int = 2, key: int = 5, value: int = 3) -> Inputs:
    """q, k, v, β and perhaps g in double precision; keys of length one."""
    random = torch.Generator().manual_seed(length)
    shapes = [(key,), (key,), (value,), (), ()]
    q, k, v, beta, g = (torch.randn(batch, heads, length, *s, generator=random, dtype=torch.float64) for s in shapes)
    made = [q, F.normalize(k, dim=-1), v, 2 * beta.sigmoid(), -g.abs()]
    return [m.requires_grad_() for m in (made if gated else made[:4])]


def run(form: Form, inputs: Inputs, chunk: int = 8, at: Tensor | None = None) -> Tensor:
    return form(*inputs, *[None] * (5 - len(inputs)), chunk, at)


@both_forms
@both_rules
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_the_chunked_form_equals_the_loop_with_all_gradients(batch: int, length: int, gated: bool, form: Form) -> None:
    inputs = draw(batch, length, gated)
    assert_same(run(form, inputs), run(delta_loop, inputs), inputs, rtol=1e-10)


@both_forms
@both_rules
@pytest.mark.parametrize(("heads", "key", "value"), [(1, 1, 7), (3, 9, 1), (1, 40, 24)])
def test_any_heads_and_widths_work(heads: int, key: int, value: int, gated: bool, form: Form) -> None:
    inputs = draw(2, 19, gated, heads, key, value)
    assert_same(run(form, inputs, chunk=6), run(delta_loop, inputs), inputs, rtol=1e-10)


@both_forms
@both_rules
@pytest.mark.parametrize(("length", "asked"), [(33, 3), (33, 16), (33, 30), (5, 2), (5, 4)])
def test_asked_rows_equal_the_rows_of_the_loop_with_all_gradients(
    length: int, asked: int, gated: bool, form: Form
) -> None:
    inputs = draw(2, length, gated)
    at = torch.randint(length, (2, asked), generator=torch.Generator().manual_seed(asked))
    judge = torch.take_along_dim(run(delta_loop, inputs), at[:, None, :, None], dim=2)
    assert torch.equal(run(delta_loop, inputs, at=at), judge)
    assert_same(run(form, inputs, at=at), judge, inputs, rtol=1e-10)


@both_rules
def test_the_matrix_times_the_values_is_the_output(gated: bool) -> None:
    inputs = draw(2, 12, gated)
    q, k, v, beta = inputs[:4]
    M = delta_matrix(q, k, beta, inputs[4] if gated else None)
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(M @ v, run(delta_loop, inputs), rtol=1e-10, atol=1e-11)


@both_forms
@pytest.mark.parametrize("decay", [0.0, -1e-6, -1.0, -50.0, -1e4, -1e30])
@pytest.mark.parametrize("same_keys", [False, True], ids=["keys differ", "one key"])
@pytest.mark.parametrize("strength", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("where", [slice(None), 20], ids=["everywhere", "at one token"])
def test_extreme_decays_and_keys_stay_finite_and_true_in_single_precision(
    decay: float, same_keys: bool, strength: float, where: Any, form: Form
) -> None:
    q, k, v, beta, g = draw(2, 33, gated=True)
    k = k[:, :, :1].expand_as(k) if same_keys else k
    mild = -g.detach().abs()
    mild[..., where] *= -decay
    exact = [q, k, v, torch.full_like(beta, strength), mild]
    exact = [m.detach().requires_grad_() for m in exact]
    single = [m.detach().float().requires_grad_() for m in exact]
    for at in (None, torch.tensor([[3, 32, 0], [5, 5, 17]])):
        y, judge = run(form, single, at=at), run(delta_loop, exact, at=at)
        torch.testing.assert_close(y.double(), judge, rtol=1e-3, atol=1e-4)
        for name, ours, true in zip("qkvβg", gradients(y, single), gradients(judge, exact), strict=True):
            assert ours.isfinite().all(), name
            assert (ours.double() - true).norm() <= 2e-3 * true.norm() + 1e-4, name
