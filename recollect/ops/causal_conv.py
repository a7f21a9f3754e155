"""Short causal depthwise convolution: y_t[c] = b[c] + Σ_k w[c, k] · x_{t-K+1+k}[c], k = 0..K-1; then SiLU if asked."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.compiled import FUSED, ONE, differentiable, exp


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
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    forward, backward = partial(_forward, silu), partial(_backward, silu)
    return differentiable(forward, backward, x.to(weight.dtype), weight.t(), bias)  # taps (K, C)


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _forward(silu: bool, x: Any, taps: Any, bias: Any, y: Any) -> None:
    (n_rows, length, width), n_taps = x.shape, len(taps)
    for b in range(n_rows):
        for t in range(length):
            for c in range(width):
                y[b, t, c] = bias[c]
            for k in range(max(0, n_taps - 1 - t), n_taps):
                for c in range(width):
                    y[b, t, c] += taps[k, c] * x[b, t - n_taps + 1 + k, c]
            if silu:
                for c in range(width):
                    y[b, t, c] = y[b, t, c] / (ONE + exp(-y[b, t, c]))


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _backward(silu: bool, dy: Any, x: Any, taps: Any, bias: Any, dx: Any, d_taps: Any, d_bias: Any) -> None:
    (n_rows, length, width), n_taps = x.shape, len(taps)
    g = np.empty(width, x.dtype)  # the gradient before the SiLU
    for b in range(n_rows):
        for t in range(length):
            first = max(0, n_taps - 1 - t)
            if silu:
                for c in range(width):
                    g[c] = bias[c]
                for k in range(first, n_taps):
                    for c in range(width):
                        g[c] += taps[k, c] * x[b, t - n_taps + 1 + k, c]
                for c in range(width):
                    s = ONE / (ONE + exp(-g[c]))
                    g[c] = dy[b, t, c] * s * (ONE + g[c] * (ONE - s))
            else:
                for c in range(width):
                    g[c] = dy[b, t, c]
            for c in range(width):
                d_bias[c] += g[c]
                dx[b, t, c] = 0
            for k in range(first, n_taps):
                for c in range(width):
                    dx[b, t - n_taps + 1 + k, c] += taps[k, c] * g[c]
                for c in range(width):
                    d_taps[k, c] += g[c] * x[b, t - n_taps + 1 + k, c]
