"""Short causal depthwise convolution: y_t[c] = b[c] + Σ_k w[c, k] · x_{t-K+1+k}[c], k = 0..K-1; then SiLU if asked."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.compiled import Array, differentiable
from recollect.ops.lanes import WIDTH, lanes, put, sigmoid, zeros_like


def causal_conv_loop(x: Tensor, weight: Tensor, bias: Tensor | None = None, silu: bool = False) -> Tensor:
    """The judge: one token at a time. x (B, L, C), weight (C, K), bias (C,)."""
    taps = weight.shape[1]
    rows = []
    for t in range(x.shape[1]):
        y = torch.zeros_like(x[:, t])
        for k in range(taps):
            if t - taps + 1 + k >= 0:
                y = y + weight[:, k] * x[:, t - taps + 1 + k]
        rows.append(y if bias is None else y + bias)
    made = torch.stack(rows, dim=1)
    return F.silu(made) if silu else made


def causal_conv_torch(x: Tensor, weight: Tensor, bias: Tensor | None = None, silu: bool = False) -> Tensor:
    """The same as a sum of K shifted products: no transposition, no loop over time."""
    taps, length = weight.shape[1], x.shape[1]
    padded = F.pad(x, (0, 0, taps - 1, 0))  # (B, L + K - 1, C)
    y = x * weight[:, -1] if bias is None else torch.addcmul(bias, x, weight[:, -1])
    for k in range(taps - 1):
        y = torch.addcmul(y, padded[:, k : k + length], weight[:, k])
    return F.silu(y) if silu else y


def causal_conv_numba(x: Tensor, weight: Tensor, bias: Tensor | None = None, silu: bool = False) -> Tensor:
    """The same on a CPU in one pass over the memory, compiled."""
    bias, width = weight.new_zeros(len(weight)) if bias is None else bias, len(weight)
    if missing := -width % WIDTH:
        x, bias, weight = F.pad(x, (0, missing)), F.pad(bias, (0, missing)), F.pad(weight, (0, 0, 0, missing))
    forward, backward = partial(_forward, silu), partial(_backward, silu)
    return differentiable(forward, backward, x.to(weight.dtype), weight.t(), bias)[..., :width]  # taps (K, C)


@njit(error_model="numpy")
def _convolve(x: Array, taps: Array, bias: Array, t: int, c: int) -> Any:
    """The sum at token t, channels from c on, of one row."""
    y, first = lanes(bias, (c,)), t + 1 - len(taps)
    for k in range(max(0, -first), len(taps)):
        y = y + lanes(taps, (k, c)) * lanes(x, (first + k, c))
    return y


@njit(cache=True, error_model="numpy")
def _forward(silu: bool, x: Array, taps: Array, bias: Array, y: Array) -> None:
    n_rows, length, width = x.shape
    for b in range(n_rows):
        row = x[b]
        for t in range(length):
            for c in range(0, width, WIDTH):
                s = _convolve(row, taps, bias, t, c)
                put(y, (b, t, c), s * sigmoid(s) if silu else s)


@njit(cache=True, error_model="numpy")
def _backward(
    silu: bool, dy: Array, x: Array, taps: Array, bias: Array, dx: Array, d_taps: Array, d_bias: Array
) -> None:
    (n_rows, length, width), n_taps = x.shape, len(taps)
    g = np.empty((length, width), x.dtype)  # the gradient before the SiLU
    for b in range(n_rows):
        row = x[b]
        for t in range(length):
            for c in range(0, width, WIDTH):
                ds = lanes(dy, (b, t, c))
                if silu:
                    s = _convolve(row, taps, bias, t, c)
                    share = sigmoid(s)
                    ds = ds * share * (s * (1.0 - share) + 1.0)
                put(g, (t, c), ds)
                put(d_bias, (c,), lanes(d_bias, (c,)) + ds)
                for k in range(max(0, n_taps - 1 - t), n_taps):
                    past = lanes(row, (t + 1 - n_taps + k, c))
                    put(d_taps, (k, c), lanes(d_taps, (k, c)) + ds * past)
        for t in range(length):
            for c in range(0, width, WIDTH):
                made = zeros_like(g)
                for k in range(max(0, n_taps - length + t), n_taps):
                    made = made + lanes(taps, (k, c)) * lanes(g, (t + n_taps - 1 - k, c))
                put(dx, (b, t, c), made)
