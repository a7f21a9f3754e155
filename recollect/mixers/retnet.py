"""RetNet's retention: linear attention whose state fades at a fixed speed, another in every head.

    q, k = x W_q, x W_k        H heads of width K = D/H, turned by RoPE;      v = x W_v      H heads of width P = E K
    S_t = γ_h S_{t-1} + k_t v_tᵀ,   o_t = S_tᵀ q_t / √K,   γ_h = 1 - 2^(-5-h)   in head h = 0..H-1
    out = (RMSNorm(o) ⊙ w ⊙ silu(x W_g)) W_o               the norm and w per head, shared by all heads

No biases, no parameter in the decay. Options: short convolutions with a SiLU on q, k, v; no output gate; no RoPE.

Sun et al. 2023, as flash-linear-attention has it: an RMSNorm per head where the paper has a GroupNorm, rotary positions
in Llama's pairs, scores that are not normalised. Departs from it: starts as torch's Linears do, as that library does,
where the authors' q, k, v and g are Xavier's times 2^-2.5; 4 heads, where theirs has 8; with `at` outputs are computed
at the asked rows only.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_or_nothing, split_heads, turn
from recollect.ops.forms import pick
from recollect.ops.ssd import ssd_matrix
from recollect.spec.mixers.linear import RetNetOptions


class RetNet(MatrixMixer):
    """Multi-scale retention."""

    zoology_rescales: ClassVar[bool] = False
    log_decay: Tensor

    def __init__(self, options: RetNetOptions, place: Place) -> None:
        super().__init__()
        self.options, self.n_heads, self.retain = options, options.n_heads, pick("ssd", place.kernel)
        d, wide = place.d_model, place.d_model * options.expand_v
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, width, bias=False) for width in (d, d, wide))
        self.q_conv, self.k_conv, self.v_conv = (
            conv_or_nothing(width, options.d_conv, place.kernel) for width in (d, d, wide)
        )
        if options.gate:
            self.g_proj = nn.Linear(d, wide, bias=False)
            self.gate = pick("gate", place.kernel)
        self.norm = RMSNorm(wide // self.n_heads, place.kernel)
        self.out_proj = nn.Linear(wide, d, bias=False)
        decay = -(2.0 ** (-5 - torch.arange(self.n_heads, dtype=torch.float64)))
        self.register_buffer("log_decay", decay.log1p(), persistent=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, one, g = self._inputs(x)
        return self.finish(self.retain(v, one, g, k, q, None, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, one, g = self._inputs(x)
        return ssd_matrix(one, g, k, q), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(o, self.g_proj(x)) if self.options.gate else o)
        return out

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        d, wide = self.out_proj.out_features, self.out_proj.in_features
        return d * wide // self.n_heads + (2 * d + wide) * max(self.options.d_conv - 1, 0)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """q / √K and k (B, H, L, K), v (B, H, L, P), ones and log γ (B, H, L)."""
        q, k, v = (
            split_heads(conv(project(x)), self.n_heads)
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        if self.options.positions == "rope":
            q, k = turn(q, k)
        g = self.log_decay.to(self.norm.weight.dtype).unsqueeze(-1).expand(len(x), -1, x.shape[1])
        return q / math.sqrt(q.shape[-1]), k, v, torch.ones_like(g), g
