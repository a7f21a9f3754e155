"""Sliding-window attention: softmax attention over the last W tokens, the current one included.

    q, k, v = x W_q + b_q, x W_k + b_k, x W_v + b_v          split into H heads of width P = D/H
    s_ij = q_i · k_j / √P      for i - W < j <= i
    y = softmax(s) v;  out = y W_o + b_o

RoPE turns q and k.

Beltagy et al. 2020. Departs from it: no dilation, no global tokens, looks back only.
"""

from torch import Tensor, nn

from recollect.mixers.mixer import HeadMixer, Place, rows_at
from recollect.mixers.parts import join_heads, split_heads, turn
from recollect.ops.forms import pick
from recollect.ops.window_attention import window_weights
from recollect.spec.mixers.softmax import SlidingAttentionOptions


class SlidingAttention(HeadMixer):
    """Softmax attention over the last W tokens."""

    def __init__(self, options: SlidingAttentionOptions, place: Place) -> None:
        super().__init__()
        self.options, self.n_heads, self.window = options, options.n_heads, options.window
        self.attend, self.rows = pick("window_attention", place.kernel), pick("window_rows", place.kernel)
        d = place.d_model
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d, options.bias) for _ in range(4))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        rows = self.rows(at, self.window)
        y = join_heads(self.attend(*self._queries_keys_values(x, rows), self.window, rows))
        out: Tensor = self.out_proj(y if rows is at else rows_at(y, at))
        return out

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self._queries_keys_values(x, None)
        return window_weights(q, k, self.window), v

    def state_size(self, length: int) -> int:
        """The keys and values that the next token will still see."""
        return 2 * min(length, self.window - 1) * self.out_proj.in_features

    def _queries_keys_values(self, x: Tensor, at: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, H, Q, P) at the asked rows, k and v (B, H, L, P)."""
        q, k, v = (split_heads(y, self.n_heads) for y in (self.q_proj(rows_at(x, at)), self.k_proj(x), self.v_proj(x)))
        if self.options.positions == "rope":
            q, k = turn(q, k, at)
        return q, k, v
