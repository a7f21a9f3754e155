"""Small ops: the fast form against the judge, with gradients."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from recollect.ops.answer_loss import CHUNK_BYTES, answer_loss_loop, answer_loss_numba, answer_loss_torch
from recollect.ops.causal_conv import causal_conv_loop, causal_conv_torch

Judge = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
fused_losses = pytest.mark.parametrize("judge", [answer_loss_torch, answer_loss_numba])


@pytest.mark.parametrize("length", [1, 2, 7, 33])
@pytest.mark.parametrize("bias", [True, False])
def test_the_convolution_equals_its_loop_and_conv1d(length: int, bias: bool) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(2, length, 5, dtype=torch.float64), torch.randn(5, 4, dtype=torch.float64)
    b = torch.randn(5, dtype=torch.float64) if bias else None
    inputs = [t.requires_grad_() for t in (x, w, b) if t is not None]
    padded = torch.nn.functional.pad(x.transpose(1, 2), (3, 0))
    forms = [causal_conv_loop(x, w, b), causal_conv_torch(x, w, b)]
    forms.append(torch.nn.functional.conv1d(padded, w.unsqueeze(1), b, groups=5).transpose(1, 2))
    seed = torch.randn_like(forms[0])
    judge = torch.autograd.grad((forms[0] * seed).sum(), inputs, retain_graph=True)
    for form in forms[1:]:
        torch.testing.assert_close(form, forms[0])
        for ours, theirs in zip(
            torch.autograd.grad((form * seed).sum(), inputs, retain_graph=True), judge, strict=True
        ):
            torch.testing.assert_close(ours, theirs)


@fused_losses
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("rows", "V"), [(1, 5), (7, 16), (7, 33), (200, CHUNK_BYTES // 8 // 60)])
def test_the_fused_loss_equals_cross_entropy(judge: Judge, rows: int, V: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(rows, 6, dtype=dtype, requires_grad=True)
    weight = torch.randn(V, 6, dtype=dtype, requires_grad=True)
    target = torch.randint(V, (rows,))
    if rows > 1:
        target[::3] = -100
    (plain, right), (fused, hits) = answer_loss_loop(x, weight, target), judge(x, weight, target)
    torch.testing.assert_close(fused, plain)
    assert torch.equal(hits, right)
    for ours, theirs in zip(
        torch.autograd.grad(3 * fused, [x, weight]), torch.autograd.grad(3 * plain, [x, weight]), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


@fused_losses
def test_the_fused_loss_counts_right_answers_and_leaves_no_gradient_where_none_is_asked(judge: Judge) -> None:
    x, weight = torch.eye(3).requires_grad_(), torch.eye(3)
    _, right = judge(x, weight, torch.tensor([0, 2, -100]))
    assert right.tolist() == [True, False, False]
    with torch.no_grad():
        assert not judge(x, weight, torch.tensor([0, 1, 2]))[0].requires_grad


@fused_losses
def test_of_equal_logits_the_first_is_the_answer(judge: Judge) -> None:
    _, right = judge(torch.ones(3, 2), torch.ones(40, 2), torch.tensor([0, 1, 39]))
    assert right.tolist() == [True, False, False]


@fused_losses
def test_a_loss_that_is_not_finite_is_said_so(judge: Judge) -> None:
    loss, right = judge(torch.full((2, 2), float("nan")), torch.eye(2), torch.tensor([0, 1]))
    assert not loss.isfinite()
    assert right.sum() <= 1
