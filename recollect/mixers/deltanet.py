"""DeltaNet: linear attention whose memory is corrected, not only added to.

    q, k, v = silu(conv(x W_q)), silu(conv(x W_k)), silu(conv(x W_v))     H heads of width P = D/H
    q, k <- q/‖q‖, k/‖k‖,   β = σ(x W_β)                                   one β per head
    S_t = S_{t-1} + β_t k_t (v_t - S_{t-1}ᵀ k_t)ᵀ,   o_t = S_tᵀ q_t / √P
    out = (RMSNorm(o) ⊙ w) W_o                                             the norm and w per head, shared by all heads

No biases. Options: an output gate silu(x W_g) after the norm; 2 β instead of β, so that S may also reflect.

Yang et al. 2024 (the delta rule: Schlag et al. 2021). Departs from them: RoPE may turn q and k; without the
convolutions (`d_conv=0`) the SiLU stays; with `at` the outputs are computed at the asked rows only.
"""

import math
from typing import ClassVar

from torch import Tensor, nn

from recollect.mixers.mixer import Decaying, MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_silu, turn
from recollect.ops.delta import delta_eigenvalues, delta_matrix
from recollect.ops.forms import pick
from recollect.ops.rms_norm import unit
from recollect.spec.mixers.delta import DeltaNetOptions


class DeltaNet(MatrixMixer, Decaying):
    """The delta rule with short convolutions."""

    zoology_rescales: ClassVar[bool] = False

    def __init__(self, options: DeltaNetOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        self.options, self.n_heads = options, options.n_heads
        self.rule, self.normalise = pick("delta", place.kernel), pick("rms_norm", place.kernel)
        d = place.d_model
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.q_conv, self.k_conv, self.v_conv = (conv_silu(d, options.d_conv, place.kernel) for _ in range(3))
        self.b_proj = nn.Linear(d, self.n_heads, bias=False)
        if options.gate:
            self.g_proj = nn.Linear(d, d, bias=False)
            self.gate = pick("gate", place.kernel)
        self.norm = RMSNorm(d // self.n_heads, place.kernel)
        self.out_proj = nn.Linear(d, d, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, beta = self._inputs(x)
        return self.finish(self.rule(q, k, v, beta, None, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, beta = self._inputs(x)
        return delta_matrix(q, k, beta, None), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(o, self.g_proj(x)) if self.options.gate else o)
        return out

    def decays(self, x: Tensor) -> Tensor:
        """The eigenvalues of I - β k kᵀ."""
        _, k, _, beta = self._inputs(x)
        return delta_eigenvalues(k, beta, None)

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        d = self.out_proj.in_features
        return d * d // self.n_heads + 3 * d * max(self.options.d_conv - 1, 0)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """q / √P, k, v (B, H, L, P) and β (B, H, L)."""
        q, k, v = (
            conv(project(x)).unflatten(-1, (self.n_heads, -1))
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        q, k = unit(q, 1 / math.sqrt(q.shape[-1]), self.normalise), unit(k, 1.0, self.normalise)  # (B, L, H, P)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.options.positions == "rope":
            q, k = turn(q, k)
        beta = self.b_proj(x).sigmoid().transpose(1, 2)
        return q, k, v, 2 * beta if self.options.negative_eigenvalues else beta
