"""Gated DeltaProduct: Gated DeltaNet that corrects its memory n times a token, so that a token may turn the state.

    q = silu(conv(x W_q))                                  H heads of width K = D/H
    k_j, v_j = silu(conv(x W_kj)), silu(conv(x W_vj))      for j = 1..n; v_j of width P = E K
    q, k_j <- q/‖q‖, k_j/‖k_j‖,   β_j = 2 σ(x W_βj)         one β_j per head
    g = -exp(A_log) softplus(x W_a + b_Δ)                  one log-decay per head
    S <- e^{g_t} S,   then for j = 1..n:   S <- S + β_j k_j (v_j - Sᵀ k_j)ᵀ,   o_t = Sᵀ q_t / √K
    out = (RMSNorm(o) ⊙ w ⊙ silu(x W_g)) W_o               the norm and w per head, shared by all heads

No other biases. It is the gated delta rule over n L tokens, of each n only the first fading and only the last asked.
Starts with exp(A_log) ~ U(0, 16) and softplus(b_Δ) log-uniform between 0.001 and 0.1. Option: β_j in (0, 1).

Siems et al. 2025. Departs from it: one head up to a width of 128 and E = 1, where theirs has 6 heads and E = 2; RoPE
may turn q and k_j, every step being a place of its own (n a token); without the convolutions (`d_conv=0`) the SiLU
stays. There are n mixing matrices a head, one for each v_j.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_silu, draw_dt_bias, turn
from recollect.ops.delta import delta_matrix
from recollect.ops.forms import pick
from recollect.ops.rms_norm import unit
from recollect.spec.mixers.delta import GatedDeltaProductOptions


class GatedDeltaProduct(MatrixMixer):
    """The gated delta rule, several steps a token."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("A_log", "dt_bias", "a_proj")

    def __init__(self, options: GatedDeltaProductOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        self.options, self.n_heads, self.n_steps = options, options.n_heads, options.n_steps
        self.rule, self.normalise = pick("delta", place.kernel), pick("rms_norm", place.kernel)
        d, keys, wide = place.d_model, place.d_model * options.n_steps, place.d_model * options.expand_v
        widths = (d, keys, wide * options.n_steps)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, width, bias=False) for width in widths)
        self.q_conv, self.k_conv, self.v_conv = (conv_silu(width, options.d_conv, place.kernel) for width in widths)
        self.a_proj = nn.Linear(d, self.n_heads, bias=False)
        self.b_proj = nn.Linear(d, self.n_heads * options.n_steps, bias=False)
        self.g_proj = nn.Linear(d, wide, bias=False)
        # 1 - U[0, 1) is never 0, whose logarithm would be infinite.
        self.A_log = nn.Parameter((16 * (1 - torch.rand(self.n_heads))).log())
        self.dt_bias = nn.Parameter(draw_dt_bias(self.n_heads, options))
        self.norm = RMSNorm(wide // self.n_heads, place.kernel)
        self.gate = pick("gate", place.kernel)
        self.out_proj = nn.Linear(wide, d, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, beta, g = self._inputs(x)
        asked = torch.arange(x.shape[1], device=x.device).expand(len(x), -1) if at is None else at
        last = (asked + 1) * self.n_steps - 1
        return self._receive(self.rule(q, k, v, beta, g, self.options.chunk, last), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, beta, g = self._inputs(x)
        M = delta_matrix(q, k, beta, g)[:, :, self.n_steps - 1 :: self.n_steps]  # (B, H, L, n L)
        M, v = M.unflatten(-1, (-1, self.n_steps)).movedim(-1, 1), v.unflatten(2, (-1, self.n_steps)).movedim(3, 1)
        return M.flatten(1, 2), v.flatten(1, 2)  # (B, n H, L, L) and (B, n H, L, P)

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        return self._receive(y.unflatten(1, (self.n_steps, -1)).sum(1), x)

    def fused(self) -> dict[str, list[int]]:
        wholes = {"k_proj.weight": self.k_proj, "v_proj.weight": self.v_proj}
        return {name: [whole.out_features // self.n_steps] * self.n_steps for name, whole in wholes.items()}

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        d, wide, n = self.out_proj.out_features, self.out_proj.in_features, self.n_steps
        return d * wide // self.n_heads + (d + n * (d + wide)) * max(self.options.d_conv - 1, 0)

    def _receive(self, y: Tensor, x: Tensor) -> Tensor:
        """From o (B, H, Q, P) to the output at the same rows."""
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(o, self.g_proj(x)))
        return out

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """q / √K and k (B, H, n L, K), v (B, H, n L, P), β and g (B, H, n L), the n of a token one after another."""
        q = self.q_conv(self.q_proj(x)).unflatten(-1, (self.n_heads, -1))
        k, v = (
            self._in_turn(conv(project(x)))
            for project, conv in ((self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        q, k = unit(q, 1 / math.sqrt(q.shape[-1]), self.normalise).transpose(1, 2), unit(k, 1.0, self.normalise)
        q, k = q.repeat_interleave(self.n_steps, dim=2), k.transpose(1, 2)
        if self.options.positions == "rope":
            q, k = turn(q, k)
        beta = self._in_turn(self.b_proj(x).sigmoid()).squeeze(-1).transpose(1, 2)
        g = -self.A_log.exp() * F.softplus(self.a_proj(x) + self.dt_bias)
        g = F.pad(g.transpose(1, 2).unsqueeze(-1), (0, self.n_steps - 1)).flatten(-2)
        return q, k, v.transpose(1, 2), 2 * beta if self.options.negative_eigenvalues else beta, g

    def _in_turn(self, y: Tensor) -> Tensor:
        """(B, L, n · H · P) -> (B, n L, H, P)."""
        made: Tensor = y.unflatten(-1, (self.n_steps, self.n_heads, -1)).flatten(1, 2)
        return made
