"""RWKV-7's decays and keys: how a state fades, what is read from it and taken away, what is written instead.

    g = -e^{-1/2} σ(w),   a = σ(α),   κ̂ = (k ⊙ c) / √(‖k ⊙ c‖² + 10⁻¹²) per head,   k̃ = k ⊙ (1 + (a - 1) ⊙ d)

k, w and α are (B, L, D), c and d (D,), of H heads side by side. All forms return g, k̃, κ̂ ⊙ e^{-g}, which reads a state
that has already faded by e^g, and -a ⊙ κ̂; (B, L, D) each.
"""

import math
from typing import Any, TypeAlias

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import Array
from recollect.ops.heads import empty_heads, fill_heads
from recollect.ops.lanes import LOG2E, WIDTH, lanes, power_of_two, put, sigmoid, total, zeros_like
from recollect.ops.precision import full

FASTEST = math.exp(-0.5)
"""No channel fades faster than by e^-FASTEST a token."""
TINY = 1e-12
Four: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]


def removal_keys_torch(k: Tensor, w: Tensor, alpha: Tensor, c: Tensor, d: Tensor, n_heads: int) -> Four:
    """The equation itself."""
    k, g, a = full(k), -FASTEST * full(w).sigmoid(), full(alpha).sigmoid()
    removed = (k * c).unflatten(-1, (n_heads, -1))
    removed = (removed * (removed.square().sum(-1, keepdim=True) + TINY).rsqrt()).flatten(-2)
    return g, k * torch.addcmul(1 - d, a, d), removed * (-g).exp(), -a * removed


def removal_keys_numba(k: Tensor, w: Tensor, alpha: Tensor, c: Tensor, d: Tensor, n_heads: int) -> Four:
    """The same on a CPU in one pass each way, compiled."""
    given = [fill_heads(m, n_heads) for m in (full(k), full(w), full(alpha), c, d)]
    g, written, read, removed = (empty_heads(m, n_heads, len(c)) for m in _Keys.apply(n_heads, *given))
    return g, written, read, removed


class _Keys(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, n_heads: int, *given: Tensor) -> tuple[Tensor, ...]:
        inputs = [m.contiguous() for m in given]
        made = [torch.empty_like(inputs[0]) for _ in range(4)]
        scale = inputs[0].new_empty(*inputs[0].shape[:-1], n_heads)
        rows = (m.flatten(0, -2).numpy() for m in (*inputs[:3], scale, *made))
        _forward(*rows, *(m.numpy() for m in inputs[3:]))
        ctx.save_for_backward(*inputs, scale)
        return tuple(made)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, scale = ctx.saved_tensors
        made, params = [torch.empty_like(m) for m in inputs[:3]], [torch.zeros_like(m) for m in inputs[3:]]
        rows = (m.contiguous().flatten(0, -2).numpy() for m in (*grads, *inputs[:3], scale, *made))
        _backward(*rows, *(m.numpy() for m in (*inputs[3:], *params)))
        return None, *made, *params


@njit(cache=True, error_model="numpy")
def _forward(
    k: Array,
    w: Array,
    alpha: Array,
    scale: Array,
    g: Array,
    written: Array,
    read: Array,
    removed: Array,
    c: Array,
    d: Array,
) -> None:
    (n_rows, n_heads), width = scale.shape, len(c) // scale.shape[1]
    for t in range(n_rows):
        for h in range(n_heads):
            squares = zeros_like(k)
            for i in range(h * width, (h + 1) * width, WIDTH):
                key = lanes(k, (t, i)) * lanes(c, (i,))
                squares = squares + key * key
            scale[t, h] = 1 / np.sqrt(total(squares) + TINY)
            r = scale[t, h]  # read back: in the arrays' precision
            for i in range(h * width, (h + 1) * width, WIDTH):
                key, a, decay = lanes(k, (t, i)), sigmoid(lanes(alpha, (t, i))), sigmoid(lanes(w, (t, i))) * -FASTEST
                direction = key * lanes(c, (i,)) * r
                put(g, (t, i), decay)
                put(written, (t, i), key * ((a - 1.0) * lanes(d, (i,)) + 1.0))
                put(read, (t, i), direction / power_of_two(decay * LOG2E))
                put(removed, (t, i), direction * a * -1.0)


@njit(cache=True, error_model="numpy")
def _backward(
    d_g: Array,
    d_written: Array,
    d_read: Array,
    d_removed: Array,
    k: Array,
    w: Array,
    alpha: Array,
    scale: Array,
    d_k: Array,
    d_w: Array,
    d_alpha: Array,
    c: Array,
    d: Array,
    d_c: Array,
    d_d: Array,
) -> None:
    (n_rows, n_heads), width = scale.shape, len(c) // scale.shape[1]
    above = np.empty(len(c), k.dtype)  # of the direction
    for t in range(n_rows):
        for h in range(n_heads):
            r, along = scale[t, h], zeros_like(k)
            for i in range(h * width, (h + 1) * width, WIDTH):
                key, share = lanes(k, (t, i)), sigmoid(lanes(w, (t, i)))
                a, rest, dk = sigmoid(lanes(alpha, (t, i))), lanes(d, (i,)), lanes(d_written, (t, i))
                direction, db = key * lanes(c, (i,)) * r, lanes(d_removed, (t, i))
                dr = lanes(d_read, (t, i)) / power_of_two(share * (-FASTEST * LOG2E))
                put(above, (i,), dr - db * a)
                along = along + (dr - db * a) * direction
                put(d_w, (t, i), (lanes(d_g, (t, i)) - dr * direction) * share * (share - 1.0) * FASTEST)
                put(d_alpha, (t, i), (dk * key * rest - db * direction) * a * (1.0 - a))
                put(d_d, (i,), lanes(d_d, (i,)) + dk * key * (a - 1.0))
                put(d_k, (t, i), dk * ((a - 1.0) * rest + 1.0))
            less = total(along) * r
            for i in range(h * width, (h + 1) * width, WIDTH):
                key = lanes(k, (t, i))
                ds = (lanes(above, (i,)) - key * lanes(c, (i,)) * less) * r
                put(d_k, (t, i), lanes(d_k, (t, i)) + ds * lanes(c, (i,)))
                put(d_c, (i,), lanes(d_c, (i,)) + ds * key)
