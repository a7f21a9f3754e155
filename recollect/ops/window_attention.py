"""Softmax attention over the last W tokens, the current one included:

    y = softmax(s) v,      s_ij = q_i · k_j / √P      for i - W < j <= i

q is (B, H, L, P), or (B, H, Q, P) with the rows `at` (B, Q) only; k and v are (B, H, L, P).
"""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

SMALLEST_BLOCK, SHORT = 16, 64
"""Measured on one thread: smaller blocks do not pay, nor do blocks for a few more rows than a block can see."""


def window_attention_loop(q: Tensor, k: Tensor, v: Tensor, window: int, at: Tensor | None = None) -> Tensor:
    """The judge: all pairs, under a mask."""
    return window_weights(q, k, window, at) @ v


def window_attention_torch(q: Tensor, k: Tensor, v: Tensor, window: int, at: Tensor | None = None) -> Tensor:
    """The same in blocks where all of many rows are asked, so that a long row costs L (C + W), not L²."""
    if at is None and blocks_pay(q.shape[-2], window):
        return window_blocks(q, k, v, window)
    return window_attention_loop(q, k, v, window, at)


def window_weights(q: Tensor, k: Tensor, window: int, at: Tensor | None = None) -> Tensor:
    """softmax of the scores (B, H, Q, L), of all rows or of the rows `at` that q holds."""
    j = torch.arange(k.shape[-2], device=k.device)
    distance = (j if at is None else at.unsqueeze(1)).unsqueeze(-1) - j  # (L, L) or (B, 1, Q, L)
    return _softmax(q, k, (distance >= 0) & (distance < window))


def window_blocks(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """All rows y (B, H, L, P), in n blocks of C queries with C + W - 1 keys each."""
    length, block = q.shape[-2], block_size(window)
    q, k, v = (F.pad(x, (0, 0, 0, -length % block)).unflatten(-2, (-1, block)) for x in (q, k, v))  # (B, H, n, C, P)
    i = torch.arange(q.shape[-3] * block, device=q.device).view(-1, block, 1)
    j = i[:, :1, 0] + torch.arange(1 - window, block, device=q.device)  # (n, C + W - 1)
    distance = i - j.unsqueeze(-2)
    seen = (distance >= 0) & (distance < window) & (j >= 0).unsqueeze(-2)  # (n, C, C + W - 1)
    y = _softmax(q, _with_past(k, window), seen) @ _with_past(v, window)
    return y.flatten(-3, -2)[..., :length, :]


def block_size(window: int) -> int:
    """C, at least W - 1, so that a block needs only the block before it."""
    return max(SMALLEST_BLOCK, window)


def blocks_pay(rows: int, window: int) -> bool:
    """Whether so many rows are asked that blocks, which give all rows, cost less than all pairs."""
    return rows > SHORT + block_size(window) + window


def _with_past(x: Tensor, window: int) -> Tensor:
    """Before each block of x (B, H, n, C, P) the last W - 1 tokens of the block before it, zeros before the first."""
    past = F.pad(x[..., :-1, x.shape[-2] - window + 1 :, :], (0, 0, 0, 0, 1, 0))
    return torch.cat((past, x), dim=-2)


def _softmax(q: Tensor, k: Tensor, seen: Tensor) -> Tensor:
    mask = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill(~seen, -torch.inf)
    return ((q / math.sqrt(q.shape[-1])) @ k.mT + mask).softmax(dim=-1)
