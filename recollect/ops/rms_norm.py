"""RMSNorm in G groups of channels: y = x / √(mean(x²) + ε) ⊙ w, the mean over each group of x's last dimension."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import LANES
from recollect.ops.precision import full


def rms_norm_torch(x: Tensor, weight: Tensor, eps: float, groups: int = 1) -> Tensor:
    """The equation itself. x (..., C), weight (C,)."""
    grouped = x.unflatten(-1, (groups, -1))
    y: Tensor = grouped * (grouped.square().mean(-1, keepdim=True) + eps).rsqrt()
    return y.flatten(-2) * weight


def rms_norm_numba(x: Tensor, weight: Tensor, eps: float, groups: int = 1) -> Tensor:
    """The same on a CPU in one pass over the memory, compiled."""
    y: Tensor = _Norm.apply(x.to(weight.dtype), weight, eps, groups)
    return y


def unit(x: Tensor, length: float, normalise: Callable[..., Tensor], tiny: float = 1e-6) -> Tensor:
    """x (..., P) scaled to this length, smoothly to zero where it is tiny: x · length / √(‖x‖² + tiny), by a form."""
    x, width = full(x), x.shape[-1]
    return normalise(x, x.new_full((width,), length / math.sqrt(width)), tiny / width)


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float, groups: int) -> Tensor:
        x, y = x.contiguous(), torch.empty(x.shape, dtype=x.dtype)
        rows, taps = x.view(-1, groups, x.shape[-1] // groups), weight.view(groups, -1)
        scale = rows.new_empty(rows.shape[:2])
        _forward(rows.numpy(), taps.numpy(), eps, scale.numpy(), y.view_as(rows).numpy())
        ctx.save_for_backward(rows, taps, scale)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor, None, None]:
        rows, weight, scale = ctx.saved_tensors
        dx, d_weight = torch.empty_like(rows), torch.zeros_like(weight)
        _backward(*(m.numpy() for m in (dy.contiguous().view_as(rows), rows, weight, scale, dx, d_weight)))
        return dx.view(dy.shape), d_weight.flatten(), None, None


@njit(cache=True, fastmath=LANES, error_model="numpy")
def _forward(x: Any, weight: Any, eps: float, scale: Any, y: Any) -> None:
    n_rows, n_groups, width = x.shape
    for i in range(n_rows):
        for g in range(n_groups):
            given, made, w = x[i, g], y[i, g], weight[g]
            total = given[0] * 0
            for c in range(width):
                total += given[c] * given[c]
            scale[i, g] = 1 / np.sqrt(total / width + eps)
            r = scale[i, g]  # read back: in the arrays' precision
            for c in range(width):
                made[c] = given[c] * r * w[c]


@njit(cache=True, fastmath=LANES, error_model="numpy")
def _backward(dy: Any, x: Any, weight: Any, scale: Any, dx: Any, d_weight: Any) -> None:
    n_rows, n_groups, width = x.shape
    share = np.full(1, 1 / width, x.dtype)[0]
    for i in range(n_rows):
        for g in range(n_groups):
            above, given, made, w, dw, r = dy[i, g], x[i, g], dx[i, g], weight[g], d_weight[g], scale[i, g]
            along = r * 0
            for c in range(width):
                u = above[c] * given[c] * r
                dw[c] += u
                along += u * w[c]
            along *= r * r * share
            for c in range(width):
                made[c] = r * above[c] * w[c] - given[c] * along
