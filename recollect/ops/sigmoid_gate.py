"""A gate between 0 and 1: y = σ(r) ⊙ x."""

from typing import Any

import torch
from numba import njit, prange
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import ONE, Array, exp, threaded


def sigmoid_gate_torch(r: Tensor, x: Tensor) -> Tensor:
    """The equation itself. r and x have the same shape."""
    return torch.sigmoid(r) * x


def sigmoid_gate_numba(r: Tensor, x: Tensor) -> Tensor:
    """The same on a CPU, in one pass each way."""
    y: Tensor = _SigmoidGate.apply(r.to(x.dtype), x)
    return y


class _SigmoidGate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, r: Tensor, x: Tensor) -> Tensor:
        r, x = r.contiguous(), x.contiguous()
        ctx.save_for_backward(r, x)
        y = torch.empty_like(x)
        threaded(_forward, _forward_parallel)(*(m.flatten(1).numpy() for m in (r, x, y)))
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
        r, x = ctx.saved_tensors
        dr, dx = torch.empty_like(r), torch.empty_like(x)
        threaded(_backward, _backward_parallel)(*(m.flatten(1).numpy() for m in (r, x, dy.contiguous(), dr, dx)))
        return dr, dx


@njit(cache=True, error_model="numpy")
def _forward_row(r: Array, x: Array, y: Array) -> None:
    for i in range(len(x)):
        y[i] = x[i] / (ONE + exp(-r[i]))


@njit(cache=True, error_model="numpy")
def _backward_row(r: Array, x: Array, grad: Array, grad_r: Array, grad_x: Array) -> None:
    for i in range(len(x)):
        s = ONE / (ONE + exp(-r[i]))
        through = grad[i] * s
        grad_x[i] = through
        grad_r[i] = through * x[i] * (ONE - s)


@njit(cache=True)
def _forward(r: Array, x: Array, y: Array) -> None:
    for b in range(x.shape[0]):
        _forward_row(r[b], x[b], y[b])


@njit(cache=True, parallel=True)
def _forward_parallel(r: Array, x: Array, y: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(r[b], x[b], y[b])


@njit(cache=True)
def _backward(r: Array, x: Array, grad: Array, grad_r: Array, grad_x: Array) -> None:
    for b in range(x.shape[0]):
        _backward_row(r[b], x[b], grad[b], grad_r[b], grad_x[b])


@njit(cache=True, parallel=True)
def _backward_parallel(r: Array, x: Array, grad: Array, grad_r: Array, grad_x: Array) -> None:
    for b in prange(x.shape[0]):
        _backward_row(r[b], x[b], grad[b], grad_r[b], grad_x[b])
