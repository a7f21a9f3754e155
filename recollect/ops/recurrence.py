"""A diagonal linear recurrence over time in few large operations, for devices that like those.

    h_t = a_t ⊙ h_{t-1} + b_t         a and b are (B, L, ...), the state before them (B, ...)

By doubling: each pass joins what a step has seen with what the steps before that have seen. Decays are only multiplied,
never divided, so a product that underflows is a state forgotten. The backward pass is the same recurrence back in time:
g_t = dh_t + a_{t+1} ⊙ g_{t+1}, then da_t = g_t ⊙ h_{t-1} and db_t = g_t.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def recur(a: Tensor, b: Tensor, before: Tensor) -> Tensor:
    """All states h (B, L, ...)."""
    h: Tensor = _Recurrence.apply(a, b, before)
    return h


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, before: Tensor) -> Tensor:
        h = b.clone()
        h[:, 0].addcmul_(a[:, 0], before)
        double(a.clone(), h)
        ctx.save_for_backward(a, h, before)
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        a, h, before = ctx.saved_tensors
        g = dh.flip(1)
        double(a.roll(-1, 1).flip(1), g)  # back in time; the first decay there meets nothing
        g = g.flip(1)
        return g * torch.cat((before.unsqueeze(1), h[:, :-1]), dim=1), g, g[:, 0] * a[:, 0]


def double(a: Tensor, h: Tensor) -> None:
    """The states in the place of what was added, h; a is used up."""
    reach, length = 1, h.shape[1]
    while reach < length:
        h[:, reach:] = torch.addcmul(h[:, reach:], a[:, reach:], h[:, :-reach])
        if 2 * reach < length:
            a[:, reach:] = a[:, reach:] * a[:, :-reach]
        reach *= 2
