"""A bias and a GELU: y = s Φ(s) with s = x + b, Φ the normal distribution's."""

import math
from typing import Any

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import Array, in_parallel, threaded
from recollect.ops.lanes import LOG2E, WIDTH, lanes, power_of_two, put, upper_tail, where_negative, zeros_like

DENSITY = 1 / math.sqrt(2 * math.pi)


def bias_gelu_torch(x: Tensor, bias: Tensor) -> Tensor:
    """The equation itself. x (B, L, C), bias (C,)."""
    return F.gelu(x + bias)


def bias_gelu_numba(x: Tensor, bias: Tensor) -> Tensor:
    """The same on a CPU in one pass each way, compiled."""
    width = len(bias)
    if missing := -width % WIDTH:
        x, bias = F.pad(x, (0, missing)), F.pad(bias, (0, missing))
    y: Tensor = _BiasGelu.apply(x.to(bias.dtype), bias)
    return y[..., :width]


class _BiasGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor) -> Tensor:
        x, y = x.contiguous(), torch.empty(x.shape, dtype=x.dtype)
        threaded(_forward, _forward_parallel)(*(v.numpy() for v in (x, bias, y)))
        ctx.save_for_backward(x, bias)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, Tensor]:
        x, bias = ctx.saved_tensors
        dx, dbias = torch.empty_like(x), np.zeros((len(x), len(bias)), bias.numpy().dtype)  # one per row of the batch
        threaded(_backward, _backward_parallel)(*(v.numpy() for v in (dy.contiguous(), x, bias, dx)), dbias)
        return dx, torch.from_numpy(dbias.sum(axis=0))


@njit(error_model="numpy")
def _distribution(s: Any) -> Any:
    """Φ(s)."""
    tail = upper_tail(where_negative(s, zeros_like(s) - s, s))
    return where_negative(s, tail, 1.0 - tail)


@njit(cache=True, error_model="numpy")
def _forward_row(x: Array, bias: Array, y: Array) -> None:
    for t in range(len(x)):
        for c in range(0, len(bias), WIDTH):
            s = lanes(x, (t, c)) + lanes(bias, (c,))
            put(y, (t, c), s * _distribution(s))


@njit(cache=True, error_model="numpy")
def _backward_row(dy: Array, x: Array, bias: Array, dx: Array, dbias: Array) -> None:
    """Its derivative is Φ(s) + s φ(s)."""
    for t in range(len(x)):
        for c in range(0, len(bias), WIDTH):
            s = lanes(x, (t, c)) + lanes(bias, (c,))
            density = power_of_two(s * s * (-0.5 * LOG2E)) * DENSITY
            ds = lanes(dy, (t, c)) * (_distribution(s) + s * density)
            put(dx, (t, c), ds)
            put(dbias, (c,), lanes(dbias, (c,)) + ds)


@njit(cache=True)
def _forward(x: Array, bias: Array, y: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(x[b], bias, y[b])


@njit(cache=True)
def _backward(dy: Array, x: Array, bias: Array, dx: Array, dbias: Array) -> None:
    for b in prange(x.shape[0]):
        _backward_row(dy[b], x[b], bias, dx[b], dbias[b])


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
