"""Gated linear attention: linear attention whose state fades, every key channel at a speed that the token sets.

    q, k = x W_q, x W_k        H heads of width K;         v = x W_v      H heads of width P = E D/H
    g = log σ(x W_1 W_2 + b) / τ                           a log-decay per key channel, W_1 of rank 16
    S_t = e^{g_t} ⊙ S_{t-1} + k_t v_tᵀ,   o_t = S_tᵀ q_t / √K
    out = (RMSNorm(o) ⊙ w ⊙ silu(x W_g)) W_o               the norm and w per head, shared by all heads

No other biases. Options: short convolutions with a SiLU on q, k, v; no output gate.

Yang et al. 2024. Departs from it: starts as torch's Linears do, as flash-linear-attention does today, where the
authors' first code had Xavier's times 2^-2.5 and b = 0; one head up to a width of 128, where theirs has 4; RoPE may
turn q and k; with `at` what follows the state is computed at the asked rows only.
"""

import math
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_or_nothing, split_heads, turn
from recollect.ops.dplr import dplr_matrix
from recollect.ops.forms import pick
from recollect.spec.mixers.linear import GLAOptions


class GLA(MatrixMixer):
    """Linear attention with a decay per key channel."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("decay_proj",)

    def __init__(self, options: GLAOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        assert options.d_key is not None
        self.options, self.n_heads, self.rule = options, options.n_heads, pick("dplr", place.kernel)
        d, keys, values = place.d_model, options.n_heads * options.d_key, place.d_model * options.expand_v
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, width, bias=False) for width in (keys, keys, values))
        self.q_conv, self.k_conv, self.v_conv = (
            conv_or_nothing(width, options.d_conv, place.kernel) for width in (keys, keys, values)
        )
        self.decay_proj = nn.Sequential(nn.Linear(d, options.d_decay, bias=False), nn.Linear(options.d_decay, keys))
        if options.gate:
            self.g_proj = nn.Linear(d, values, bias=False)
            self.gate = pick("gate", place.kernel)
        self.norm = RMSNorm(values // self.n_heads, place.kernel)
        self.out_proj = nn.Linear(values, d, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, g = self._inputs(x)
        return self.finish(self.rule(q, k, v, g, None, None, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, g = self._inputs(x)
        return dplr_matrix(q, k, g, None, None), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(o, self.g_proj(x)) if self.options.gate else o)
        return out

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        keys, values = self.q_proj.out_features, self.v_proj.out_features
        return keys * values // self.n_heads + (2 * keys + values) * max(self.options.d_conv - 1, 0)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q / √K, k (B, H, L, K), v (B, H, L, P) and g (B, H, L, K)."""
        q, k, v = (
            split_heads(conv(project(x)), self.n_heads)
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        if self.options.positions == "rope":
            q, k = turn(q, k)
        g = F.logsigmoid(self.decay_proj(x)) / self.options.temperature
        return q / math.sqrt(q.shape[-1]), k, v, split_heads(g, self.n_heads)
