"""Sliding-window attention: softmax attention over the last W tokens, the current one included.

    q, k, v = x W_q + b_q, x W_k + b_k, x W_v + b_v          split into H heads of width P = D/H
    s_ij = q_i · k_j / √P      for i - W < j <= i
    y = softmax(s) v;  out = y W_o + b_o

RoPE turns q and k. A few rows are taken against all tokens under a mask; many are cut into blocks of C tokens, and
each block looks at itself and the W - 1 tokens before it, so that a long row costs L (C + W), not L².

Beltagy et al. 2020. Departs from it: no dilation, no global tokens, looks back only.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import join_heads, split_heads
from recollect.ops.rotary import rotate
from recollect.spec.mixers import SlidingAttentionOptions

SMALLEST_BLOCK, SHORT = 16, 64
"""Measured on one thread: smaller blocks do not pay, nor do blocks for a few more rows than a block can see."""


class SlidingAttention(MatrixMixer):
    """Softmax attention over the last W tokens."""

    def __init__(self, options: SlidingAttentionOptions, place: Place) -> None:
        super().__init__()
        self.options, self.n_heads, self.window = options, options.n_heads, options.window
        self.loop = place.kernel == "loop"
        d = place.d_model
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d, options.bias) for _ in range(4))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        rows = x.shape[1] if at is None else at.shape[1]
        if self.loop or rows <= SHORT + block_size(self.window) + self.window:
            q, k, v = self._queries_keys_values(x, at)
            return self.finish(window_weights(q, k, self.window, at) @ v, x)
        y = window_blocks(*self._queries_keys_values(x, None), self.window)
        out: Tensor = self.out_proj(rows_at(join_heads(y), at))
        return out

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self._queries_keys_values(x, None)
        return window_weights(q, k, self.window), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        out: Tensor = self.out_proj(join_heads(y))
        return out

    def state_size(self, length: int) -> int:
        """The keys and values that the next token will still see."""
        return 2 * min(length, self.window - 1) * self.out_proj.in_features

    def _queries_keys_values(self, x: Tensor, at: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, H, Q, P) at the asked rows, k and v (B, H, L, P)."""
        q, k, v = (split_heads(y, self.n_heads) for y in (self.q_proj(rows_at(x, at)), self.k_proj(x), self.v_proj(x)))
        if self.options.positions == "rope":
            q, k = rotate(q, None if at is None else at.unsqueeze(1)), rotate(k)
        return q, k, v


def window_weights(q: Tensor, k: Tensor, window: int, at: Tensor | None = None) -> Tensor:
    """softmax of the scores (B, H, Q, L), of all rows or of the rows `at` (B, Q) that q holds."""
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


def _with_past(x: Tensor, window: int) -> Tensor:
    """Before each block of x (B, H, n, C, P) the last W - 1 tokens of the block before it, zeros before the first."""
    past = F.pad(x[..., :-1, x.shape[-2] - window + 1 :, :], (0, 0, 0, 0, 1, 0))
    return torch.cat((past, x), dim=-2)


def _softmax(q: Tensor, k: Tensor, seen: Tensor) -> Tensor:
    mask = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill(~seen, -torch.inf)
    return ((q / math.sqrt(q.shape[-1])) @ k.mT + mask).softmax(dim=-1)
