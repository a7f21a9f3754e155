"""Several token shifts of one input: y_m = μ_m ⊙ x_t + (1 - μ_m) ⊙ x_{t-1}, with x_{-1} = 0, for every row μ_m of μ."""

from typing import Any

import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import Array
from recollect.ops.lanes import WIDTH, lanes, put, zeros_like
from recollect.ops.token_shift import token_shift_torch


def token_shifts_torch(x: Tensor, mu: Tensor) -> tuple[Tensor, ...]:
    """The equation itself. x (B, L, D), μ (M, D)."""
    return tuple(token_shift_torch(x, row) for row in mu)


def token_shifts_numba(x: Tensor, mu: Tensor) -> tuple[Tensor, ...]:
    """The same on a CPU in one pass each way, compiled."""
    x, width = x.to(mu.dtype), x.shape[-1]
    if missing := -width % WIDTH:
        x, mu = F.pad(x, (0, missing)), F.pad(mu, (0, missing))
    return tuple(y[..., :width] for y in _Shifts.apply(x, mu))


class _Shifts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mu: Tensor) -> tuple[Tensor, ...]:
        x, mu = x.contiguous(), mu.contiguous()
        y = x.new_empty(len(mu), *x.shape)
        _forward(x.numpy(), mu.numpy(), y.numpy())
        ctx.save_for_backward(x, mu)
        return y.unbind()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        x, mu = ctx.saved_tensors
        dx, d_mu = torch.zeros_like(x), torch.zeros_like(mu)
        for m, grad in enumerate(grads):
            _backward(m, *(v.numpy() for v in (grad.contiguous(), x, mu, dx, d_mu)))
        return dx, d_mu


@njit(cache=True, error_model="numpy")
def _forward(x: Array, mu: Array, y: Array) -> None:
    n_batch, length, width = x.shape
    for b in range(n_batch):
        for t in range(length):
            for c in range(0, width, WIDTH):
                now, before = lanes(x, (b, t, c)), zeros_like(x)
                if t > 0:
                    before = lanes(x, (b, t - 1, c))
                for m in range(len(mu)):
                    put(y, (m, b, t, c), before + lanes(mu, (m, c)) * (now - before))


@njit(cache=True, error_model="numpy")
def _backward(m: int, grad: Array, x: Array, mu: Array, dx: Array, d_mu: Array) -> None:
    """The part of one of them: adds to dx."""
    n_batch, length, width = x.shape
    for b in range(n_batch):
        for t in range(length):
            for c in range(0, width, WIDTH):
                later = zeros_like(x)
                if t + 1 < length:
                    later = lanes(grad, (b, t + 1, c))
                change = lanes(grad, (b, t, c)) - later
                put(dx, (b, t, c), lanes(dx, (b, t, c)) + later + lanes(mu, (m, c)) * change)
                put(d_mu, (m, c), lanes(d_mu, (m, c)) + lanes(x, (b, t, c)) * change)
