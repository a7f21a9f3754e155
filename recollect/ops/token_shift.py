"""Token shift, every token blended with the one before it: y_t = μ ⊙ x_t + (1 - μ) ⊙ x_{t-1}, with x_{-1} = 0."""

from typing import Any

import torch
from numba import njit, prange
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import Array, sum_rows, threaded


def token_shift_torch(x: Tensor, mu: Tensor) -> Tensor:
    """x (B, L, D), μ (D,)."""
    x = x.to(mu.dtype)
    return torch.lerp(previous(x), x, mu)


def previous(x: Tensor) -> Tensor:
    """x_{t-1} at every t of x (B, L, D), 0 at the first."""
    return F.pad(x, (0, 0, 1, -1))


def token_shift_numba(x: Tensor, mu: Tensor) -> Tensor:
    """The same on a CPU, in one pass each way; the number of threads changes no bit."""
    y: Tensor = _TokenShift.apply(x.to(mu.dtype), mu)
    return y


class _TokenShift(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mu: Tensor) -> Tensor:
        x, mu = x.contiguous(), mu.contiguous()
        ctx.save_for_backward(x, mu)
        y = torch.empty_like(x)
        threaded(_forward, _forward_parallel)(x.numpy(), mu.numpy(), y.numpy())
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x, mu = ctx.saved_tensors
        grad_x, sums = torch.empty_like(x), x.new_zeros(x.shape[0], x.shape[2])
        threaded(_backward, _backward_parallel)(*(m.numpy() for m in (x, mu, grad.contiguous(), grad_x, sums)))
        return grad_x, torch.from_numpy(sum_rows(sums.numpy()))


@njit(cache=True)
def _forward_row(x: Array, mu: Array, y: Array) -> None:
    for i in range(x.shape[1]):
        y[0, i] = mu[i] * x[0, i]
    for t in range(1, x.shape[0]):
        for i in range(x.shape[1]):
            y[t, i] = x[t - 1, i] + mu[i] * (x[t, i] - x[t - 1, i])


@njit(cache=True)
def _backward_row(x: Array, mu: Array, grad: Array, grad_x: Array, grad_mu: Array) -> None:
    last = x.shape[0] - 1
    for t in range(last):
        for i in range(x.shape[1]):
            change = grad[t, i] - grad[t + 1, i]
            grad_x[t, i] = grad[t + 1, i] + mu[i] * change
            grad_mu[i] += x[t, i] * change
    for i in range(x.shape[1]):
        grad_x[last, i] = mu[i] * grad[last, i]
        grad_mu[i] += x[last, i] * grad[last, i]


@njit(cache=True)
def _forward(x: Array, mu: Array, y: Array) -> None:
    for b in range(x.shape[0]):
        _forward_row(x[b], mu, y[b])


@njit(cache=True, parallel=True)
def _forward_parallel(x: Array, mu: Array, y: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(x[b], mu, y[b])


@njit(cache=True)
def _backward(x: Array, mu: Array, grad: Array, grad_x: Array, sums: Array) -> None:
    for b in range(x.shape[0]):
        _backward_row(x[b], mu, grad[b], grad_x[b], sums[b])


@njit(cache=True, parallel=True)
def _backward_parallel(x: Array, mu: Array, grad: Array, grad_x: Array, sums: Array) -> None:
    for b in prange(x.shape[0]):
        _backward_row(x[b], mu, grad[b], grad_x[b], sums[b])
