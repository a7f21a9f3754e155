"""The matrix memory: the chunked form against the loop, and the loop against its definition without a stabiliser."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.mlstm import mlstm_loop, mlstm_matrix, mlstm_torch
from tests.support.judged import assert_same, gradients

Inputs = list[Tensor]


def draw(batch: int, length: int, heads: int = 2, key: int = 5, value: int = 3) -> Inputs:
    """q, k, v, log i and log f in double precision."""
    random = torch.Generator().manual_seed(length)
    shapes = [(key,), (key,), (value,), (), ()]
    q, k, v, i, f = (torch.randn(batch, heads, length, *s, generator=random, dtype=torch.float64) for s in shapes)
    return [m.requires_grad_() for m in (q, k, v, 3 * i, F.logsigmoid(f + 1).detach())]


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33])
def test_the_chunked_form_equals_the_loop_with_all_gradients(batch: int, length: int) -> None:
    inputs = draw(batch, length)
    assert_same(mlstm_torch(*inputs, chunk=8), mlstm_loop(*inputs, chunk=8), inputs)


def test_asked_rows_equal_the_rows_of_the_loop_with_all_gradients() -> None:
    inputs, at = draw(2, 33), torch.tensor([[0, 32, 5], [7, 7, 31]])
    for form in (mlstm_loop, mlstm_torch):
        judge = torch.take_along_dim(mlstm_loop(*inputs, chunk=8), at[:, None, :, None], dim=2)
        assert_same(form(*inputs, chunk=8, at=at), judge, inputs)


def test_the_matrix_times_the_values_is_the_output() -> None:
    q, k, v, i, f = inputs = draw(2, 12)
    M = mlstm_matrix(q, k, i, f)
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(M @ v, mlstm_loop(*inputs, chunk=8), rtol=1e-9, atol=1e-11)


def test_the_stabiliser_changes_nothing() -> None:
    q, k, v, i, f = inputs = draw(2, 20)
    C, n, rows = torch.zeros(2, 2, 5, 3, dtype=torch.float64), torch.zeros(2, 2, 5, dtype=torch.float64), []
    for t in range(20):
        forget, write = f[:, :, t, None].exp(), i[:, :, t, None].exp() * k[:, :, t]
        C, n = forget.unsqueeze(-1) * C + write.unsqueeze(-1) * v[:, :, t, None], forget * n + write
        divisor = (n * q[:, :, t]).sum(-1).abs().clamp(min=1)
        rows.append((C * q[:, :, t, :, None]).sum(-2) / divisor.unsqueeze(-1))
    judge = torch.stack(rows, dim=2)
    y = mlstm_loop(*inputs, chunk=8)
    torch.testing.assert_close(y, judge, rtol=1e-3, atol=1e-4)  # but for its ε
    for a, b in zip(gradients(y, inputs), gradients(judge, inputs), strict=True):
        assert (a - b).norm() <= 1e-3 * b.norm()


@pytest.mark.parametrize("gate", [-1e4, -50.0, 0.0, 50.0, 1e4])
@pytest.mark.parametrize("decay", [0.0, -1e-6, -50.0, -1e4])
def test_extreme_gates_stay_finite_and_true_in_single_precision(gate: float, decay: float) -> None:
    q, k, v, i, f = draw(2, 33)
    exact = [m.detach().requires_grad_() for m in (q, k, v, gate + i, decay * f.abs())]
    single = [m.detach().float().requires_grad_() for m in exact]
    y, judge = mlstm_torch(*single, chunk=8), mlstm_loop(*(m.double() for m in single), chunk=8)
    assert (y.double() - judge).norm() <= 2e-3 * judge.norm() + 1e-4
    for name, ours in zip(("q", "k", "v", "i", "f"), gradients(y, single), strict=True):
        assert ours.isfinite().all(), name
