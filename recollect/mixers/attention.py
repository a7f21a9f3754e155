"""Softmax attention.

Every token asks all earlier ones, at once:

    q, k, v = x W_q + b_q, x W_k + b_k, x W_v + b_v          split into H heads of width P = D/H
    s_ij = q_i · k_j / √P      for j <= i                      (T5 leaves the scores unscaled)
    y = softmax(s) v;  out = y W_o + b_o

Positions on the scores: RoPE turns q and k; ALiBi adds -2^(-8h/H) (i - j) in head h = 1..H; hard ALiBi lets head
h <= H/2 see its own token and the h before it, i - j <= h, and leaves the other heads without positions; T5 adds a
learned bias per head and bucket of i - j. A causal depthwise convolution may stand on any of the three branches: before
its projection, after it, or once on the input that the named branches share. QK-norm puts the q and k of every head
through an RMSNorm before positions act on them.

Vaswani et al. 2017; Su et al. 2021; Press et al. 2022; Jelassi et al. 2024; Raffel et al. 2020; the convolution as in
Li et al. 2024, QK-norm as in Dehghani et al. 2023. Departs from them: no padding mask; with `at` only the asked rows
are computed; the reach of the heads of hard ALiBi, which its paper leaves open, follows from H.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import HeadMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, ShortConv, split_heads
from recollect.ops.forms import pick
from recollect.ops.rotary import rotate
from recollect.spec.mixers.softmax import AttentionOptions

T5_BUCKETS, T5_FARTHEST = 32, 128


class Attention(HeadMixer):
    """Softmax attention with score positions and short convolutions."""

    def __init__(self, options: AttentionOptions, place: Place) -> None:
        super().__init__()
        self.options, self.n_heads, self.softmax = options, options.n_heads, pick("softmax", place.kernel)
        d = place.d_model
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d, options.bias) for _ in range(4))
        self.branches = "" if options.conv == "none" else options.conv
        names = ["input"] if self.branches and options.conv_at == "input" else list(self.branches)
        self.convs = nn.ModuleDict({name: ShortConv(d, options.d_conv, place.kernel) for name in names})
        width = d // self.n_heads
        self.norms = nn.ModuleDict({name: RMSNorm(width, place.kernel) for name in ("qk" if options.qk_norm else "")})
        if options.positions == "t5":
            self.bias_table = nn.Parameter(torch.zeros(T5_BUCKETS, self.n_heads))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        M, v = self._mix(x, at)
        return self.finish(F.dropout(M, self.options.dropout, self.training) @ v, x)

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self._mix(x, None)

    def state_size(self, length: int) -> int:
        """The keys and values of every token, or of those that a head still sees; what the convolutions still see."""
        d, short = self.out_proj.in_features, self.n_heads // 2 if self.options.positions == "hard_alibi" else 0
        tokens = sum(min(h, length) for h in range(1, short + 1)) + length * (self.n_heads - short)
        seen = 0 if not self.convs else len(self.convs) if self.options.conv_at == "after" else 1
        return 2 * tokens * d // self.n_heads + seen * (self.options.d_conv - 1) * d

    def _mix(self, x: Tensor, at: Tensor | None) -> tuple[Tensor, Tensor]:
        """softmax(s) at the asked rows (B, H, Q, L), and v (B, H, L, P)."""
        shared = self.convs["input"](x) if "input" in self.convs else x
        inputs = {name: shared if name in self.branches else x for name in "qkv"}
        q = self._branch("q", self.q_proj, inputs["q"], at)
        k = self._branch("k", self.k_proj, inputs["k"], None)
        v = self._branch("v", self.v_proj, inputs["v"], None)
        return self._weights(q, k, at), v

    def _branch(self, name: str, project: nn.Linear, x: Tensor, at: Tensor | None) -> Tensor:
        """One of q, k, v at the rows asked for: (B, H, Q, P)."""
        if name not in self.convs:
            y = project(rows_at(x, at))
        elif self.options.conv_at == "after":
            y = rows_at(self.convs[name](project(x)), at)
        else:
            y = project(rows_at(self.convs[name](x), at))
        y = split_heads(y, self.n_heads)
        return self.norms[name](y) if name in self.norms else y

    def _weights(self, q: Tensor, k: Tensor, at: Tensor | None) -> Tensor:
        """softmax of the scores, (B, H, Q, L)."""
        j = torch.arange(k.shape[-2], device=k.device)
        i = (j if at is None else at).unsqueeze(-1)  # (L, 1) or (B, Q, 1)
        distance = (i - j).unsqueeze(-3)  # (1, L, L) or (B, 1, Q, L)
        if self.options.positions == "rope":
            q, k = rotate(q, i.squeeze(-1).unsqueeze(-2)), rotate(k)
        scale = 1.0 if self.options.positions == "t5" else 1 / math.sqrt(q.shape[-1])
        scores, bias = (q * scale) @ k.transpose(-1, -2), self._bias(distance, q.dtype)
        weights: Tensor = self.softmax(scores if bias is None else scores + bias, self._hidden(distance))
        return weights

    def _hidden(self, distance: Tensor) -> Tensor:
        """What must not be seen: the future, and with hard ALiBi what is too far for a head."""
        if self.options.positions != "hard_alibi":
            return distance < 0
        reach = torch.arange(1, self.n_heads + 1, device=distance.device)
        reach[self.n_heads // 2 :] = distance.shape[-1]
        return (distance < 0) | (distance > reach.view(-1, 1, 1))

    def _bias(self, distance: Tensor, dtype: torch.dtype) -> Tensor | None:
        """What the distance (..., 1, Q, L) adds to the scores, (..., H, Q, L), if anything."""
        if self.options.positions == "alibi":
            heads = torch.arange(1, self.n_heads + 1, device=distance.device, dtype=dtype)
            return -(2.0 ** (-8 * heads / self.n_heads)).view(-1, 1, 1) * distance
        if self.options.positions == "t5":
            return self.bias_table[t5_bucket(distance.squeeze(-3))].movedim(-1, -3)
        return None


def t5_bucket(distance: Tensor) -> Tensor:
    """Near distances have a bucket each, far ones share logarithmic ones."""
    exact = T5_BUCKETS // 2
    n = distance.clamp(min=0)
    far = (n.clamp(min=exact).float() / exact).log() / math.log(T5_FARTHEST / exact) * (T5_BUCKETS - exact)
    return torch.where(n < exact, n, (exact + far.long()).clamp(max=T5_BUCKETS - 1))
