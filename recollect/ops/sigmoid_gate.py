"""A gate between 0 and 1: y = σ(r) ⊙ x."""

import torch
from numba import njit, prange
from torch import Tensor

from recollect.ops.compiled import ONE, Array, differentiable, exp, in_parallel, threaded


def sigmoid_gate_torch(r: Tensor, x: Tensor) -> Tensor:
    """The equation itself. r and x have the same shape."""
    return torch.sigmoid(r) * x


def sigmoid_gate_numba(r: Tensor, x: Tensor) -> Tensor:
    """The same on a CPU, in one pass each way."""
    forward, backward = threaded(_forward, _forward_parallel), threaded(_backward, _backward_parallel)
    return differentiable(forward, backward, r.to(x.dtype).flatten(1), x.flatten(1)).view(x.shape)


@njit(cache=True, error_model="numpy")
def _forward_row(r: Array, x: Array, y: Array) -> None:
    for i in range(len(x)):
        y[i] = x[i] / (ONE + exp(-r[i]))


@njit(cache=True, error_model="numpy")
def _backward_row(grad: Array, r: Array, x: Array, grad_r: Array, grad_x: Array) -> None:
    for i in range(len(x)):
        s = ONE / (ONE + exp(-r[i]))
        through = grad[i] * s
        grad_x[i] = through
        grad_r[i] = through * x[i] * (ONE - s)


@njit(cache=True)
def _forward(r: Array, x: Array, y: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(r[b], x[b], y[b])


@njit(cache=True)
def _backward(grad: Array, r: Array, x: Array, grad_r: Array, grad_x: Array) -> None:
    for b in prange(x.shape[0]):
        _backward_row(grad[b], r[b], x[b], grad_r[b], grad_x[b])


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
