"""Cross-entropy at the asked positions: loss = mean over answers of -log softmax(x Wᵀ)[target].

x is (N, D), W (V, D), target (N,); where the target is negative, by torch's custom -100, nothing is asked.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

CHUNK_BYTES = 2**22
"""Logits are made in pieces that stay in the cache."""


def answer_loss_loop(x: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The judge: the mean loss, and which answers are right."""
    logits = x @ weight.T
    return F.cross_entropy(logits, target), logits.argmax(-1) == target


def answer_loss_torch(x: Tensor, weight: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The same, never holding all logits: the gradient is made in the forward pass, piece by piece."""
    needs = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad)
    loss, right = _AnswerLoss.apply(x, weight, target, needs)
    return loss, right


class _AnswerLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, target: Tensor, needs: bool) -> tuple[Tensor, Tensor]:
        known = target >= 0
        share = (known.to(x.dtype) / known.sum().clamp(min=1)).unsqueeze(1)  # (N, 1): 1/count, or 0 where ignored
        loss, right = x.new_zeros(()), torch.empty_like(known)
        dx, dweight = (torch.empty_like(x), torch.zeros_like(weight)) if needs else (x, weight)
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
                torch.mm(p, weight, out=dx[part])
                dweight.addmm_(p.T, x[part])
        ctx.save_for_backward(dx, dweight)
        ctx.mark_non_differentiable(right)
        return loss, right

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        dx, dweight = ctx.saved_tensors
        return dx * grads[0], dweight * grads[0], None, None
