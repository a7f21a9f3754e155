"""Token shift, every token blended with the one before it: y_t = μ ⊙ x_t + (1 - μ) ⊙ x_{t-1}, with x_{-1} = 0."""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.compiled import Array, add_rows, differentiable, in_parallel, threaded


def token_shift_torch(x: Tensor, mu: Tensor) -> Tensor:
    """x (B, L, D), μ (D,)."""
    x = x.to(mu.dtype)
    return torch.lerp(previous(x), x, mu)


def previous(x: Tensor) -> Tensor:
    """x_{t-1} at every t of x (B, L, D), 0 at the first."""
    return F.pad(x, (0, 0, 1, -1))


def token_shift_numba(x: Tensor, mu: Tensor) -> Tensor:
    """The same on a CPU, in one pass each way; the number of threads changes no bit."""
    forward, backward = threaded(_forward, _forward_parallel), threaded(_backward, _backward_parallel)
    return differentiable(forward, backward, x.to(mu.dtype), mu)


@njit(cache=True)
def _forward_row(x: Array, mu: Array, y: Array) -> None:
    for i in range(x.shape[1]):
        y[0, i] = mu[i] * x[0, i]
    for t in range(1, x.shape[0]):
        for i in range(x.shape[1]):
            y[t, i] = x[t - 1, i] + mu[i] * (x[t, i] - x[t - 1, i])


@njit(cache=True)
def _backward_row(grad: Array, x: Array, mu: Array, grad_x: Array, grad_mu: Array) -> None:
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
    for b in prange(x.shape[0]):
        _forward_row(x[b], mu, y[b])


@njit(cache=True)
def _backward(grad: Array, x: Array, mu: Array, grad_x: Array, grad_mu: Array) -> None:
    sums = np.zeros((x.shape[0], x.shape[2]), x.dtype)
    for b in prange(x.shape[0]):
        _backward_row(grad[b], x[b], mu, grad_x[b], sums[b])
    add_rows(grad_mu, sums)


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
