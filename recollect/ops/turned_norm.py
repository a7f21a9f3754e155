"""Mamba-3's B and C: normalised, a bias added for every head, and their first 2 M channels turned by a running angle.

    u = x / √(mean(x²) + ε) ⊙ w + b_h,      φ_t = Σ_{s<=t} π tanh(θ_s) Δ_s   (M,)
    (y_i, y_{M+i}) = (u_i cos φ_i - u_{M+i} sin φ_i,  u_{M+i} cos φ_i + u_i sin φ_i)   for i < M,   y_i = u_i after 2 M

x is (B, L, 2, N), B and C side by side, w (2, N), b (2, H, N), θ (B, L, M) with M <= N/2, Δ (B, H, L). All forms return
two y (B, H, L, N).
"""

import math
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import LANES, Array
from recollect.ops.lanes import WIDTH, lanes, put, total, zeros_like
from recollect.ops.precision import full
from recollect.ops.rms_norm import rms_norm_torch

EPS = 1e-5


def turned_norm_torch(x: Tensor, weight: Tensor, bias: Tensor, theta: Tensor, dt: Tensor) -> tuple[Tensor, Tensor]:
    """The equation itself."""
    angle = (math.pi * torch.tanh(full(theta)).unsqueeze(1) * full(dt).unsqueeze(-1)).cumsum(2)  # (B, H, L, M)
    cos, sin, width = angle.cos(), angle.sin(), angle.shape[-1]
    made = []
    for i in (0, 1):
        u = rms_norm_torch(full(x[:, :, i]), weight[i], EPS).unsqueeze(1) + bias[i].unsqueeze(1)  # (B, H, L, N)
        first, second, rest = u.split((width, width, u.shape[-1] - 2 * width), dim=-1)
        made.append(torch.cat((first * cos - second * sin, second * cos + first * sin, rest), dim=-1))
    return made[0], made[1]


def turned_norm_numba(x: Tensor, weight: Tensor, bias: Tensor, theta: Tensor, dt: Tensor) -> tuple[Tensor, Tensor]:
    """The same on a CPU in one pass each way, compiled; channels that do not fill their lanes get empty ones."""
    width, turned = x.shape[-1], theta.shape[-1]
    sizes = (turned, turned, width - 2 * turned)
    x, weight, bias = (_fill_lanes(m, sizes) for m in (full(x), weight, bias))
    made = _TurnedNorm.apply(x, weight, bias, _fill_lanes(full(theta), (turned,)), full(dt), width)
    B, C = (m if m.shape[-1] == width else _empty_lanes(m, sizes) for m in made)
    return B, C


def _fill_lanes(m: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Parts of these sizes along the last dimension, each with zeros up to a multiple of WIDTH."""
    if not any(size % WIDTH for size in sizes):
        return m
    return torch.cat([F.pad(part, (0, -part.shape[-1] % WIDTH)) for part in m.split(sizes, dim=-1)], dim=-1)


def _empty_lanes(m: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """The other way."""
    parts = m.split([size + -size % WIDTH for size in sizes], dim=-1)
    return torch.cat([part[..., :size] for part, size in zip(parts, sizes, strict=True)], dim=-1)


class _TurnedNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, theta: Tensor, dt: Tensor, width: int
    ) -> tuple[Tensor, Tensor]:
        x, weight, bias, dt = (m.contiguous() for m in (x, weight, bias, dt))
        rate, scale = torch.tanh(theta).contiguous(), x.new_empty(x.shape[:3])
        angle, y = x.new_empty(*dt.shape, theta.shape[-1]), x.new_empty(2, *dt.shape, x.shape[-1])
        _run(*(m.numpy() for m in (rate, dt, angle)))
        cos, sin = angle.cos(), angle.sin()
        _forward(width, *(m.numpy() for m in (x, weight, bias, cos, sin, scale, y)))
        ctx.save_for_backward(x, weight, cos, sin, scale, y, rate, dt)
        ctx.width = width
        return y[0], y[1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        *given, rate, dt = ctx.saved_tensors
        x, weight, cos = given[:3]
        dx, d_weight, d_bias = torch.empty_like(x), torch.zeros_like(weight), x.new_zeros(2, dt.shape[1], x.shape[-1])
        d_angle, d_rate, d_dt = torch.zeros_like(cos), torch.zeros_like(rate), torch.empty_like(dt)
        for k, dy in enumerate(above):
            arrays = (dy.contiguous(), *given, dx, d_weight, d_bias, d_angle)
            _backward(ctx.width, k, *(m.numpy() for m in arrays))
        _run_back(*(m.numpy() for m in (d_angle, rate, dt, d_rate, d_dt)))
        return dx, d_weight, d_bias, d_rate.mul_(1 - rate * rate), d_dt, None


@njit(cache=True, fastmath=LANES, error_model="numpy")
def _run(rate: Array, dt: Array, angle: Array) -> None:
    """The running angles."""
    n_batch, n_heads, length, width = angle.shape
    half_turn, turned = np.full(1, math.pi, rate.dtype)[0], np.empty(width, rate.dtype)
    for b in range(n_batch):
        for h in range(n_heads):
            turned[:] = 0
            for t in range(length):
                step = half_turn * dt[b, h, t]
                for i in range(width):
                    turned[i] += step * rate[b, t, i]
                    angle[b, h, t, i] = turned[i]


@njit(cache=True, fastmath=LANES, error_model="numpy")
def _run_back(d_angle: Array, rate: Array, dt: Array, d_rate: Array, d_dt: Array) -> None:
    """From the gradients of the angles to those of what they are made of; adds to d_rate."""
    n_batch, n_heads, length, width = d_angle.shape
    half_turn, turned = np.full(1, math.pi, rate.dtype)[0], np.empty(width, rate.dtype)
    for b in range(n_batch):
        for h in range(n_heads):
            turned[:] = 0
            for t in range(length - 1, -1, -1):
                step, along = half_turn * dt[b, h, t], half_turn * 0
                for i in range(width):
                    turned[i] += d_angle[b, h, t, i]
                    along += turned[i] * rate[b, t, i]
                    d_rate[b, t, i] += step * turned[i]
                d_dt[b, h, t] = half_turn * along


@njit(error_model="numpy")
def _scale(x: Array, width: int, row: tuple[int, int, int]) -> Any:
    """1 / √(mean(x²) + ε)."""
    b, t, k = row
    squares = zeros_like(x)
    for c in range(0, x.shape[3], WIDTH):
        given = lanes(x, (b, t, k, c))
        squares = squares + given * given
    return 1 / np.sqrt(total(squares) / width + EPS)


@njit(cache=True, error_model="numpy")
def _forward(width: int, x: Array, weight: Array, bias: Array, cos: Array, sin: Array, scale: Array, y: Array) -> None:
    _, n_batch, n_heads, length, n_channels = y.shape
    n = cos.shape[3]
    u = np.empty(n_channels, x.dtype)
    for b in range(n_batch):
        for t in range(length):
            for k in range(2):
                scale[b, t, k] = _scale(x, width, (b, t, k))
                r = scale[b, t, k]  # read back: in the arrays' precision
                for c in range(0, n_channels, WIDTH):
                    put(u, (c,), lanes(x, (b, t, k, c)) * r * lanes(weight, (k, c)))
                for h in range(n_heads):
                    for c in range(0, n, WIDTH):
                        first = lanes(u, (c,)) + lanes(bias, (k, h, c))
                        second = lanes(u, (n + c,)) + lanes(bias, (k, h, n + c))
                        cos_c, sin_c = lanes(cos, (b, h, t, c)), lanes(sin, (b, h, t, c))
                        put(y, (k, b, h, t, c), first * cos_c - second * sin_c)
                        put(y, (k, b, h, t, n + c), second * cos_c + first * sin_c)
                    for c in range(2 * n, n_channels, WIDTH):
                        put(y, (k, b, h, t, c), lanes(u, (c,)) + lanes(bias, (k, h, c)))


@njit(error_model="numpy")
def _add(total: Array, index: Any, value: Any) -> None:
    put(total, index, lanes(total, index) + value)


@njit(cache=True, error_model="numpy")
def _backward(
    width: int,
    k: int,
    dy: Array,
    x: Array,
    weight: Array,
    cos: Array,
    sin: Array,
    scale: Array,
    y: Array,
    dx: Array,
    d_weight: Array,
    d_bias: Array,
    d_angle: Array,
) -> None:
    """The gradients of B (k = 0) or C (k = 1)."""
    n_batch, n_heads, length, n_channels = dy.shape
    n = cos.shape[3]
    du = np.empty(n_channels, x.dtype)  # summed over the heads
    for b in range(n_batch):
        for t in range(length):
            du[:] = 0
            for h in range(n_heads):
                for c in range(0, n, WIDTH):
                    first, second = lanes(dy, (b, h, t, c)), lanes(dy, (b, h, t, n + c))
                    cos_c, sin_c = lanes(cos, (b, h, t, c)), lanes(sin, (b, h, t, c))
                    turning = second * lanes(y, (k, b, h, t, c)) - first * lanes(y, (k, b, h, t, n + c))
                    _add(d_angle, (b, h, t, c), turning)
                    put(du, (c,), lanes(du, (c,)) + first * cos_c + second * sin_c)
                    put(du, (n + c,), lanes(du, (n + c,)) + second * cos_c - first * sin_c)
                    _add(d_bias, (k, h, c), first * cos_c + second * sin_c)
                    _add(d_bias, (k, h, n + c), second * cos_c - first * sin_c)
                for c in range(2 * n, n_channels, WIDTH):
                    _add(du, (c,), lanes(dy, (b, h, t, c)))
                    _add(d_bias, (k, h, c), lanes(dy, (b, h, t, c)))
            r, along = scale[b, t, k], zeros_like(x)
            for c in range(0, n_channels, WIDTH):
                part = lanes(du, (c,)) * lanes(x, (b, t, k, c)) * r
                _add(d_weight, (k, c), part)
                along = along + part * lanes(weight, (k, c))
            share = total(along) * r * r / np.float32(width)
            for c in range(0, n_channels, WIDTH):
                made = lanes(du, (c,)) * lanes(weight, (k, c)) * r - lanes(x, (b, t, k, c)) * share
                put(dx, (b, t, k, c), made)
