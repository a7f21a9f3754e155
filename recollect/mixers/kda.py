"""Kimi Delta Attention: the gated delta rule whose memory fades at a speed of its own in every key channel.

    q, k, v = silu(conv(x W_q)), silu(conv(x W_k)), silu(conv(x W_v))     H heads of width P = D/H
    q, k <- q/‖q‖, k/‖k‖,   β = σ(x W_β)                                   one β per head
    g = -exp(A_log) softplus(x W_1 W_2 + b_Δ)                              a log-decay per channel, A_log per head
    S'_t = e^{g_t} ⊙ S_{t-1},   S_t = S'_t + β_t k_t (v_t - S'_tᵀ k_t)ᵀ,   o_t = S_tᵀ q_t / √P
    out = (RMSNorm(o) ⊙ w ⊙ σ(x W_3 W_4)) W_o                              the norm and w per head, shared by all heads

No other biases; W_1 and W_3 have rank P. Starts with exp(A_log) ~ U(1, 16) and softplus(b_Δ) log-uniform between 0.001
and 0.1, without which it is said to recall hardly better than chance. Option: 2 β instead of β: S may also reflect.

Kimi Team 2025, as transformers has it (flash-linear-attention adds a bias to W_4). Departs from it: one head up to a
width of 128; RoPE may turn q and k; without the convolutions (`d_conv=0`) the SiLU stays; with `at` what follows the
state is computed at the asked rows only.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import RMSNorm, conv_silu, draw_dt_bias, split_heads, turn
from recollect.ops.forms import pick
from recollect.ops.kda import kda_matrix
from recollect.ops.rms_norm import unit
from recollect.spec.mixers.delta import KDAOptions


class KDA(MatrixMixer):
    """The delta rule with a decay per channel."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("A_log", "dt_bias", "f_proj")

    def __init__(self, options: KDAOptions, place: Place) -> None:
        super().__init__()
        assert options.n_heads is not None
        self.options, self.n_heads = options, options.n_heads
        self.rule, self.normalise = pick("kda", place.kernel), pick("rms_norm", place.kernel)
        d, rank = place.d_model, place.d_model // options.n_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.q_conv, self.k_conv, self.v_conv = (conv_silu(d, options.d_conv, place.kernel) for _ in range(3))
        self.f_proj, self.g_proj = (
            nn.Sequential(nn.Linear(d, rank, bias=False), nn.Linear(rank, d, bias=False)) for _ in range(2)
        )
        self.b_proj = nn.Linear(d, self.n_heads, bias=False)
        self.A_log = nn.Parameter(torch.empty(self.n_heads).uniform_(1, 16).log())
        self.dt_bias = nn.Parameter(draw_dt_bias(d, options))
        self.norm = RMSNorm(rank, place.kernel)
        self.gate = pick("sigmoid_gate", place.kernel)
        self.out_proj = nn.Linear(d, d, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        q, k, v, beta, g = self._inputs(x)
        return self.finish(self.rule(q, k, v, beta, g, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v, beta, g = self._inputs(x)
        return kda_matrix(q, k, beta, g), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        o = self.norm(y.transpose(1, 2)).flatten(-2)
        out: Tensor = self.out_proj(self.gate(self.g_proj(x), o))
        return out

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the tokens that the convolutions still see."""
        d = self.out_proj.in_features
        return d * d // self.n_heads + 3 * d * max(self.options.d_conv - 1, 0)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """q / √P, k, v (B, H, L, P), β (B, H, L) and g (B, H, L, P)."""
        q, k, v = (
            conv(project(x)).unflatten(-1, (self.n_heads, -1))
            for project, conv in ((self.q_proj, self.q_conv), (self.k_proj, self.k_conv), (self.v_proj, self.v_conv))
        )
        q, k = unit(q, 1 / math.sqrt(q.shape[-1]), self.normalise), unit(k, 1.0, self.normalise)  # (B, L, H, P)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        if self.options.positions == "rope":
            q, k = turn(q, k)
        beta = self.b_proj(x).sigmoid().transpose(1, 2)
        g = split_heads(F.softplus(self.f_proj(x) + self.dt_bias), self.n_heads) * -self.A_log.exp()[:, None, None]
        return q, k, v, 2 * beta if self.options.negative_eigenvalues else beta, g
