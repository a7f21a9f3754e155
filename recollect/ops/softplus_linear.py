"""A softplus after a projection from few channels: y = softplus(x Wᵀ + b)."""

from typing import Any

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import Array, in_parallel, threaded
from recollect.ops.lanes import (
    LOG2E,
    WIDTH,
    lanes,
    larger,
    log_of_one_and,
    power_of_two,
    put,
    sigmoid,
    total,
    where_negative,
    zeros_like,
)


def softplus_linear_torch(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The equation itself. x (B, L, R), weight (C, R), bias (C,)."""
    return F.softplus(F.linear(x, weight, bias).to(bias.dtype))


def softplus_linear_numba(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The same on a CPU in one pass each way: matrix products with so few channels are slow."""
    width = len(bias)
    if missing := -width % WIDTH:
        weight, bias = F.pad(weight, (0, 0, 0, missing)), F.pad(bias, (0, missing))
    y: Tensor = _SoftplusLinear.apply(x.to(bias.dtype), weight.t(), bias)
    return y[..., :width]


class _SoftplusLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        x, *_ = inputs = [v.contiguous() for v in given]
        y = x.new_empty(*x.shape[:-1], len(given[-1]))
        threaded(_forward, _forward_parallel)(*(v.numpy() for v in (*inputs, y)))
        ctx.save_for_backward(*inputs)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, ...]:
        x, weight, bias = (v.numpy() for v in ctx.saved_tensors)
        dx, shape = np.empty_like(x), (len(x), *weight.shape)
        dweight, dbias = np.zeros(shape, x.dtype), np.zeros((len(x), len(bias)), x.dtype)  # one per row of the batch
        threaded(_backward, _backward_parallel)(dy.contiguous().numpy(), x, weight, bias, dx, dweight, dbias)
        return tuple(map(torch.from_numpy, (dx, dweight.sum(axis=0), dbias.sum(axis=0))))


@njit(error_model="numpy")
def _project(x: Array, weight: Array, bias: Array, t: int, c: int) -> Any:
    """x_t Wᵀ + b at the channels from c on; weight is (R, C)."""
    s = lanes(bias, (c,))
    for r in range(weight.shape[0]):
        s = s + lanes(weight, (r, c)) * x[t, r]
    return s


@njit(cache=True, error_model="numpy")
def _forward_row(x: Array, weight: Array, bias: Array, y: Array) -> None:
    """softplus(s) = max(s, 0) + log(1 + exp(-|s|))."""
    zero = zeros_like(bias)
    for t in range(len(x)):
        for c in range(0, len(bias), WIDTH):
            s = _project(x, weight, bias, t, c)
            small = power_of_two(where_negative(s, s, zero - s) * LOG2E)
            put(y, (t, c), larger(zero, s) + log_of_one_and(small))


@njit(cache=True, error_model="numpy")
def _backward_row(dy: Array, x: Array, weight: Array, bias: Array, dx: Array, dweight: Array, dbias: Array) -> None:
    """Its derivative is the sigmoid of s."""
    dx_t = np.empty((len(weight), WIDTH), x.dtype)
    for t in range(len(x)):
        dx_t[:] = 0
        for c in range(0, len(bias), WIDTH):
            ds = lanes(dy, (t, c)) * sigmoid(_project(x, weight, bias, t, c))
            put(dbias, (c,), lanes(dbias, (c,)) + ds)
            for r in range(len(weight)):
                put(dweight, (r, c), lanes(dweight, (r, c)) + ds * x[t, r])
                put(dx_t, (r, 0), lanes(dx_t, (r, 0)) + ds * lanes(weight, (r, c)))
        for r in range(len(weight)):
            dx[t, r] = total(lanes(dx_t, (r, 0)))


@njit(cache=True)
def _forward(x: Array, weight: Array, bias: Array, y: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(x[b], weight, bias, y[b])


@njit(cache=True)
def _backward(dy: Array, x: Array, weight: Array, bias: Array, dx: Array, dweight: Array, dbias: Array) -> None:
    for b in prange(x.shape[0]):
        _backward_row(dy[b], x[b], weight, bias, dx[b], dweight[b], dbias[b])


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
