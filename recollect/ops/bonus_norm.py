"""What follows RWKV-7's state: a norm per head, a bonus for the token itself, a gate.

    y = (((o - mean(o)) / √(var(o) + ε P)) ⊙ w + b + (r · (c ⊙ k)) v) ⊙ z        mean, variance and product per head

o, r, k, v and z are (B, L, D), H heads of width P side by side; w, b and c (D,). y is (B, L, D).
"""

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import Array
from recollect.ops.heads import are_channels, empty_heads, fill_heads
from recollect.ops.lanes import WIDTH, lanes, put, total, zeros_like
from recollect.ops.precision import full

EPS = 1e-5


def bonus_norm_torch(
    o: Tensor, r: Tensor, k: Tensor, v: Tensor, z: Tensor, w: Tensor, b: Tensor, c: Tensor, n_heads: int
) -> Tensor:
    """The equation itself."""
    o, r, k, v, c = (full(m).unflatten(-1, (n_heads, -1)) for m in (o, r, k, v, c))
    normed = F.layer_norm(o, o.shape[-1:], eps=EPS * o.shape[-1])
    bonus = (r * k * c).sum(-1, keepdim=True) * v
    return (torch.addcmul(b, normed.flatten(-2), w) + bonus.flatten(-2)) * z


def bonus_norm_numba(
    o: Tensor, r: Tensor, k: Tensor, v: Tensor, z: Tensor, w: Tensor, b: Tensor, c: Tensor, n_heads: int
) -> Tensor:
    """The same on a CPU in one pass each way, compiled."""
    given = [fill_heads(m, n_heads) for m in (*map(full, (o, r, k, v, z)), w, b, c)]
    y: Tensor = _BonusNorm.apply(n_heads, are_channels(c, n_heads), *given)
    return empty_heads(y, n_heads, len(c))


class _BonusNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, n_heads: int, real: Tensor, *given: Tensor) -> Tensor:
        inputs = [m.contiguous() for m in given]
        y, heads = torch.empty_like(inputs[0]), inputs[0].new_empty(3, *inputs[0].shape[:-1], n_heads)
        rows = (m.flatten(0, -2).numpy() for m in (*inputs[:5], y))
        _forward(heads.flatten(1, -2).numpy(), *rows, *(m.numpy() for m in (*inputs[5:], real)))
        ctx.save_for_backward(*inputs, real, heads)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, real, heads = ctx.saved_tensors
        made, params = [torch.empty_like(m) for m in inputs[:5]], [torch.zeros_like(m) for m in inputs[5:]]
        rows = (m.contiguous().flatten(0, -2).numpy() for m in (dy, *inputs[:5], *made))
        _backward(heads.flatten(1, -2).numpy(), *rows, *(m.numpy() for m in (*inputs[5:], real, *params)))
        return None, None, *made, *params


@njit(cache=True, error_model="numpy")
def _forward(
    heads: Array, o: Array, r: Array, k: Array, v: Array, z: Array, y: Array, w: Array, b: Array, c: Array, real: Array
) -> None:
    """Fills y and, of every head, the mean, what scales it and its bonus."""
    n_rows, n_heads = heads.shape[1:]
    width, head_dim = len(c) // n_heads, real.sum() / n_heads
    for t in range(n_rows):
        for h in range(n_heads):
            sums, products, squares = zeros_like(o), zeros_like(o), zeros_like(o)
            for i in range(h * width, (h + 1) * width, WIDTH):
                sums = sums + lanes(o, (t, i))
                products = products + lanes(r, (t, i)) * lanes(k, (t, i)) * lanes(c, (i,))
            heads[0, t, h], heads[2, t, h] = total(sums) / head_dim, total(products)
            mean, bonus = heads[0, t, h], heads[2, t, h]
            for i in range(h * width, (h + 1) * width, WIDTH):
                centred = (lanes(o, (t, i)) - mean) * lanes(real, (i,))
                squares = squares + centred * centred
            heads[1, t, h] = 1 / np.sqrt(total(squares) / head_dim + EPS * head_dim)
            scale = heads[1, t, h]  # read back: in the arrays' precision
            for i in range(h * width, (h + 1) * width, WIDTH):
                u = (lanes(o, (t, i)) - mean) * scale * lanes(w, (i,)) + lanes(b, (i,)) + lanes(v, (t, i)) * bonus
                put(y, (t, i), u * lanes(z, (t, i)))


@njit(cache=True, error_model="numpy")
def _backward(
    heads: Array,
    dy: Array,
    o: Array,
    r: Array,
    k: Array,
    v: Array,
    z: Array,
    d_o: Array,
    d_r: Array,
    d_k: Array,
    d_v: Array,
    d_z: Array,
    w: Array,
    b: Array,
    c: Array,
    real: Array,
    d_w: Array,
    d_b: Array,
    d_c: Array,
) -> None:
    n_rows, n_heads = heads.shape[1:]
    width, head_dim = len(c) // n_heads, real.sum() / n_heads
    for t in range(n_rows):
        for h in range(n_heads):
            mean, scale, bonus = heads[0, t, h], heads[1, t, h], heads[2, t, h]
            sums, along, above = zeros_like(o), zeros_like(o), zeros_like(o)
            for i in range(h * width, (h + 1) * width, WIDTH):
                normed, value = (lanes(o, (t, i)) - mean) * scale, lanes(v, (t, i))
                du = lanes(dy, (t, i)) * lanes(z, (t, i))
                dn = du * lanes(w, (i,))
                put(d_z, (t, i), lanes(dy, (t, i)) * (normed * lanes(w, (i,)) + lanes(b, (i,)) + value * bonus))
                put(d_v, (t, i), du * bonus)
                put(d_w, (i,), lanes(d_w, (i,)) + du * normed)
                put(d_b, (i,), lanes(d_b, (i,)) + du)
                put(d_o, (t, i), dn)
                sums, along, above = sums + dn, along + dn * normed, above + du * value
            less, share, d_bonus = total(sums) / head_dim, total(along) / head_dim, total(above)
            for i in range(h * width, (h + 1) * width, WIDTH):
                normed, both = (lanes(o, (t, i)) - mean) * scale, lanes(c, (i,)) * d_bonus
                put(d_o, (t, i), (lanes(d_o, (t, i)) - less - normed * share) * scale)
                put(d_r, (t, i), both * lanes(k, (t, i)))
                put(d_k, (t, i), both * lanes(r, (t, i)))
                put(d_c, (i,), lanes(d_c, (i,)) + lanes(r, (t, i)) * lanes(k, (t, i)) * d_bonus)
