"""WKV-4 compiled for the CPU: forward and backward, in float32 and float64.

A row of the batch at a time; the channels of a token are the inner loop, which vectorises. ℓ is kept as (m, den) with
ℓ = m + log den. Only the inputs are saved: the backward pass computes a row's two sigmoids and averages again, and
with them needs products and sums alone. Gradients of w and u are summed over the batch in its order: the number of
threads changes no bit.
"""

from typing import Any, TypeAlias

import numpy as np
import torch
from numba import njit, prange
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.scan_numba import exp
from recollect.ops.threads import numba_threads
from recollect.ops.token_shift import sum_rows

Array: TypeAlias = NDArray[Any]


def wkv_numba(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same as `wkv_loop`: w > 0 and u (D,), k and v (B, L, D)."""
    y: Tensor = _WKV.apply(w, u, k.to(w.dtype), v.to(w.dtype))
    return y


class _WKV(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
        inputs = [x.contiguous() for x in (w, u, k, v)]
        ctx.save_for_backward(*inputs)
        y = torch.empty_like(inputs[2])
        run = _forward if numba_threads() == 1 else _forward_parallel
        run(*(x.numpy() for x in (*inputs, y)))
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        w, u, k, v = ctx.saved_tensors
        grad_k, grad_v = torch.empty_like(k), torch.empty_like(v)
        sums = k.new_zeros(k.shape[0], 4, k.shape[2])
        run = _backward if numba_threads() == 1 else _backward_parallel
        run(*(x.numpy() for x in (w, u, k, v, grad.contiguous(), grad_k, grad_v, sums)))
        grad_w, grad_u = torch.from_numpy(sum_rows(sums.numpy()))[:2]
        return grad_w, grad_u, grad_k, grad_v


@njit(cache=True)
def _scratch(row: Array) -> tuple[Array, Array, Array]:
    """Room for what `_forward_row` keeps of a row."""
    return np.empty_like(row), np.empty_like(row), np.empty_like(row)


@njit(cache=True, error_model="numpy")
def _forward_row(w: Array, u: Array, k: Array, v: Array, y: Array, now: Array, kept: Array, mean: Array) -> None:
    """One row of the batch, (L, D): y, σ(u + k - ℓ), σ(k - ℓ + w) and c before every token."""
    one = w.dtype.type(1)
    m, den, c = np.full_like(w, -np.inf), np.zeros_like(w), np.zeros_like(w)
    for t in range(k.shape[0]):
        for i in range(k.shape[1]):
            change = v[t, i] - c[i]
            ahead = u[i] + k[t, i] - m[i]
            e = exp(-abs(ahead))
            past, new = (den[i] * e, one) if ahead > 0 else (den[i], e)
            share = new / (past + new)
            y[t, i] = c[i] + share * change
            now[t, i] = share
            mean[t, i] = c[i]
            ahead = k[t, i] - m[i] + w[i]
            e = exp(-abs(ahead))
            past, new = (den[i] * e, one) if ahead > 0 else (den[i], e)
            share = new / (past + new)
            kept[t, i] = share
            c[i] += share * change
            den[i] = past + new
            m[i] = k[t, i] if ahead > 0 else m[i] - w[i]


@njit(cache=True, error_model="numpy")
def _backward_row(
    v: Array, now: Array, kept: Array, mean: Array, grad: Array, grad_k: Array, grad_v: Array, sums: Array
) -> None:
    """The same row backwards; `sums` (4, D) starts at zero and ends with the gradients of w and u first."""
    one = v.dtype.type(1)
    grad_w, grad_u, grad_c, grad_l = sums[0], sums[1], sums[2], sums[3]
    # An array of steps: LLVM does not vectorise the inner loop of a range that counts down.
    for t in np.arange(v.shape[0])[::-1]:
        for i in range(v.shape[1]):
            change, g = v[t, i] - mean[t, i], grad[t, i]
            s, p = now[t, i], kept[t, i]
            first = g * change * s * (one - s)  # through u + k - ℓ
            later = grad_c[i] * change * p * (one - p)  # through k - ℓ + w
            grad_k[t, i] = first + later + grad_l[i] * p
            grad_v[t, i] = g * s + grad_c[i] * p
            decayed = grad_l[i] * (one - p) - later  # to ℓ - w
            grad_w[i] -= decayed
            grad_u[i] += first
            grad_l[i] = decayed - first
            grad_c[i] = grad_c[i] * (one - p) + g * (one - s)


@njit(cache=True)
def _forward(w: Array, u: Array, k: Array, v: Array, y: Array) -> None:
    for b in range(k.shape[0]):
        _forward_row(w, u, k[b], v[b], y[b], *_scratch(k[b]))


@njit(cache=True, parallel=True)
def _forward_parallel(w: Array, u: Array, k: Array, v: Array, y: Array) -> None:
    for b in prange(k.shape[0]):
        _forward_row(w, u, k[b], v[b], y[b], *_scratch(k[b]))


@njit(cache=True)
def _backward(w: Array, u: Array, k: Array, v: Array, grad: Array, grad_k: Array, grad_v: Array, sums: Array) -> None:
    for b in range(k.shape[0]):
        now, kept, mean = _scratch(k[b])
        _forward_row(w, u, k[b], v[b], grad_v[b], now, kept, mean)  # grad_v holds y until its own turn
        _backward_row(v[b], now, kept, mean, grad[b], grad_k[b], grad_v[b], sums[b])


@njit(cache=True, parallel=True)
def _backward_parallel(
    w: Array, u: Array, k: Array, v: Array, grad: Array, grad_k: Array, grad_v: Array, sums: Array
) -> None:
    for b in prange(k.shape[0]):
        now, kept, mean = _scratch(k[b])
        _forward_row(w, u, k[b], v[b], grad_v[b], now, kept, mean)  # grad_v holds y until its own turn
        _backward_row(v[b], now, kept, mean, grad[b], grad_k[b], grad_v[b], sums[b])
