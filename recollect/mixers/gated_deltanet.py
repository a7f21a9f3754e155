"""Gated DeltaNet: DeltaNet whose memory also fades, with a gated output.

    q, k, v = silu(conv(x W_q)), silu(conv(x W_k)), silu(conv(x W_v))     H heads; q, k of width K = D/H, v of P = E K
    q, k <- q/‖q‖, k/‖k‖,   β = σ(x W_β)                                   one β per head
    g = -exp(A_log) softplus(x W_a + b_Δ)                                  one log-decay per head
    S_t = e^{g_t} S_{t-1} + β_t k_t (v_t - e^{g_t} S_{t-1}ᵀ k_t)ᵀ,   o_t = S_tᵀ q_t / √K
    out = (RMSNorm(o) ⊙ w ⊙ silu(x W_g)) W_o                               the norm and w per head, shared by all heads

No other biases. Starts with exp(A_log) ~ U(0, 16) and softplus(b_Δ) log-uniform between 0.001 and 0.1.

Yang et al. 2025. Departs from it: RoPE may turn q and k; without the convolutions (`d_conv=0`) the SiLU stays; with
`at` the outputs are computed at the asked rows only.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import Decaying, MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_silu, draw_dt_bias, turn
from recollect.ops.delta import delta_eigenvalues, delta_matrix
from recollect.ops.forms import pick
from recollect.ops.rms_norm import unit
from recollect.spec.mixers.delta import GatedDeltaNetOptions


class GatedDeltaNet(MatrixMixer, Decaying):
    """The gated delta rule with short convolutions."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("A_log", "dt_bias", "a_proj")

    def __init__(self, options: GatedDeltaNetOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        self.options, self.n_heads = options, options.n_heads
        self.rule, self.normalise = pick("delta", place.kernel), pick("rms_norm", place.kernel)
        d, wide = place.d_model, place.d_model * options.expand_v
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, width, bias=False) for width in (d, d, wide))
        self.q_conv, self.k_conv, self.v_conv = (conv_silu(n, options.d_conv, place.kernel) for n in (d, d, wide))
        self.a_proj, self.b_proj = (nn.Linear(d, self.n_heads, bias=False) for _ in range(2))
        self.g_proj = nn.Linear(d, wide, bias=False)
        # 1 - U[0, 1) is never 0, whose logarithm would be infinite.
        self.A_log = nn.Parameter((16 * (1 - torch.rand(self.n_heads))).log())
        self.dt_bias = nn.Parameter(draw_dt_bias(self.n_heads, options))
        self.norm = RMSNorm(wide // self.n_heads, place.kernel)
        self.gate = pick("gate", place.kernel)
        self.out_proj = nn.Linear(wide, d, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, beta, g = self._inputs(x)
        return self.finish(self.rule(q, k, v, beta, g, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, beta, g = self._inputs(x)
        return delta_matrix(q, k, beta, g), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(o, self.g_proj(x)))
        return out

    def decays(self, x: Tensor) -> Tensor:
        """The eigenvalues of e^g (I - β k kᵀ)."""
        _, k, _, beta, g = self._inputs(x)
        return delta_eigenvalues(k, beta, g)

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        d, wide = self.out_proj.out_features, self.out_proj.in_features
        return d * wide // self.n_heads + (2 * d + wide) * max(self.options.d_conv - 1, 0)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """q / √K and k (B, H, L, K), v (B, H, L, P), β and g (B, H, L)."""
        q, k, v = (
            conv(project(x)).unflatten(-1, (self.n_heads, -1))
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        q, k = unit(q, 1 / math.sqrt(q.shape[-1]), self.normalise), unit(k, 1.0, self.normalise)  # (B, L, H, K)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.options.positions == "rope":
            q, k = turn(q, k)
        g = -self.A_log.exp() * F.softplus(self.a_proj(x) + self.dt_bias)
        return q, k, v, self.b_proj(x).sigmoid().transpose(1, 2), g.transpose(1, 2)
