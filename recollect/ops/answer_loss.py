"""Cross-entropy at the asked positions: loss = mean over answers of -log softmax(x Wᵀ)[target].

x is (N, D), W (V, D), target (N,); where the target is negative, by torch's custom -100, nothing is asked.
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.compiled import Array, exp
from recollect.ops.lanes import LOG2E, WIDTH, lanes, larger, power_of_two, put, total, zeros_like

CHUNK_BYTES = 2**21
"""Logits are made in pieces that stay in the cache."""


def answer_loss_loop(x: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The judge: the mean loss, and which answers are right."""
    logits = x @ weight.T
    return F.cross_entropy(logits, target), logits.argmax(-1) == target


def answer_loss_torch(x: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The same, never holding all logits: the gradient is made in the forward pass, piece by piece.

    That is for a CPU's cache; another device takes all logits at once, in a few large kernels.
    """
    if x.device.type != "cpu":
        return answer_loss_loop(x, weight, target)
    needs = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad)
    loss, right = _AnswerLoss.apply(x, weight, target, needs)
    return loss, right


def answer_loss_numba(x: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The same on a CPU: two passes over a piece's logits, compiled, one for the largest and one for the rest."""
    needs = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad)
    loss, right = _CompiledLoss.apply(x, weight, target, needs)
    return loss, right


class _AnswerLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, target: Tensor, needs: bool) -> tuple[Tensor, Tensor]:
        known = target >= 0
        share = (known.to(x.dtype) / known.sum().clamp(min=1)).unsqueeze(1)  # (N, 1): 1/count, or 0 where ignored
        loss, right = x.new_zeros(()), torch.empty_like(known)
        dx, dweight = (torch.empty_like(x), weight.new_zeros(weight.T.shape)) if needs else (x, weight.T)
        rows = max(1, CHUNK_BYTES // (weight.shape[0] * x.element_size()))
        for part in (slice(start, start + rows) for start in range(0, len(x), rows)):
            wanted = target[part].clamp(min=0).unsqueeze(1)
            logits = x[part] @ weight.T
            top, place = logits.max(dim=1, keepdim=True)
            right[part] = (place == wanted).squeeze(1) & known[part]
            p = logits.sub_(top)
            chosen = p.gather(1, wanted)
            total = p.exp_().sum(dim=1, keepdim=True)
            loss += ((total.log() - chosen) * share[part]).sum()
            if needs:
                p.mul_(share[part] / total).scatter_add_(1, wanted, -share[part])
                dx[part] = p @ weight
                dweight.addmm_(x[part].T, p)  # (D, V): the small factor is the one that is turned
        ctx.save_for_backward(dx, dweight.T)
        ctx.mark_non_differentiable(right)
        return loss, right

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        dx, dweight = ctx.saved_tensors
        return dx * grads[0], dweight * grads[0], None, None


class _CompiledLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, target: Tensor, needs: bool) -> tuple[Tensor, Tensor]:
        known = target >= 0
        share = known.to(x.dtype) / known.sum().clamp(min=1)  # 1/count, or 0 where ignored
        losses, totals, right = torch.empty_like(share), torch.empty_like(share), torch.empty_like(known)
        dx, dweight = (torch.empty_like(x), weight.new_zeros(weight.T.shape)) if needs else (x, weight.T)
        rows = max(1, CHUNK_BYTES // (weight.shape[0] * x.element_size()))
        for part in (slice(start, start + rows) for start in range(0, len(x), rows)):
            p = x[part] @ weight.T
            _soften(*(v.numpy() for v in (p, target[part], losses[part], totals[part], right[part])))
            if needs:  # p lacks the factor share / total
                scale = (share[part] / totals[part]).unsqueeze(1)
                dx[part] = (p @ weight).mul_(scale)
                dweight.addmm_((x[part] * scale).T, p)  # (D, V): the small factor is the one that is turned
        ctx.save_for_backward(dx, dweight.T)
        ctx.mark_non_differentiable(right)
        return losses @ share, right

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        dx, dweight = ctx.saved_tensors
        return dx * grads[0], dweight * grads[0], None, None


@njit(cache=True, error_model="numpy")
def _soften(logits: Array, target: Array, losses: Array, totals: Array, right: Array) -> None:
    """Every row of logits (N, V) becomes exp(logits - largest), and its sum less at the target: its gradient."""
    work = np.empty(WIDTH, logits.dtype)
    for i in range(logits.shape[0]):
        row, wanted = logits[i], max(target[i], 0)
        top, chosen = _largest(row, work), row[wanted]
        right[i] = target[i] >= 0 and chosen == top and not (row[:wanted] == top).any()
        totals[i] = _exponentials(row, top)
        losses[i] = top - chosen + np.log(totals[i])
        row[wanted] -= totals[i]


@njit(error_model="numpy")
def _largest(row: Array, work: Array) -> Any:
    """The largest number of a row."""
    rest, top = len(row) % WIDTH, row[0]
    if len(row) > rest:
        most = lanes(row, (rest,))
        for j in range(rest + WIDTH, len(row), WIDTH):
            most = larger(lanes(row, (j,)), most)
        put(work, (0,), most)
        for j in range(WIDTH):
            top = max(top, work[j])
    for j in range(rest):
        top = max(top, row[j])
    return top


@njit(error_model="numpy")
def _exponentials(row: Array, top: Any) -> Any:
    """Makes them of a row, less its largest number, and returns their sum."""
    rest, sums = len(row) % WIDTH, zeros_like(row)
    for j in range(rest, len(row), WIDTH):
        made = power_of_two((lanes(row, (j,)) - top) * LOG2E)
        put(row, (j,), made)
        sums = sums + made
    sum_of_all = total(sums)
    for j in range(rest):
        row[j] = exp(row[j] - top)
        sum_of_all += row[j]
    return sum_of_all
