"""Small ops: the fast form against the judge, with gradients."""

import pytest
import torch

from recollect.ops.answer_loss import CHUNK_BYTES, answer_loss_loop, answer_loss_torch
from recollect.ops.causal_conv import causal_conv_loop, causal_conv_torch


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


@pytest.mark.parametrize("rows", [1, 7, 200])
def test_the_fused_loss_equals_cross_entropy(rows: int) -> None:
    torch.manual_seed(0)
    V = CHUNK_BYTES // 8 // 60
    x = torch.randn(rows, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(V, 6, dtype=torch.float64, requires_grad=True)
    target = torch.randint(V, (rows,))
    if rows > 1:
        target[::3] = -100
    (plain, right), (fused, hits) = answer_loss_loop(x, weight, target), answer_loss_torch(x, weight, target)
    torch.testing.assert_close(fused, plain)
    assert torch.equal(hits, right)
    for ours, judge in zip(
        torch.autograd.grad(3 * fused, [x, weight]), torch.autograd.grad(3 * plain, [x, weight]), strict=True
    ):
        torch.testing.assert_close(ours, judge)


def test_the_fused_loss_counts_right_answers_and_leaves_no_gradient_where_none_is_asked() -> None:
    x, weight = torch.eye(3).requires_grad_(), torch.eye(3)
    _, right = answer_loss_torch(x, weight, torch.tensor([0, 2, -100]))
    assert right.tolist() == [True, False, False]
    with torch.no_grad():
        assert not answer_loss_torch(x, weight, torch.tensor([0, 1, 2]))[0].requires_grad


def test_a_loss_that_is_not_finite_is_said_so() -> None:
    loss, right = answer_loss_torch(torch.full((2, 2), float("nan")), torch.eye(2), torch.tensor([0, 1]))
    assert not loss.isfinite()
    assert right.sum() <= 1
