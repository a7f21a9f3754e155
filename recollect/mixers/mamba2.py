"""Mamba2: a state-space model whose state decays by one number per head and step (SSD).

    z, xBC, δ = x W_in                                     widths E D, E D + 2 G N, H
    x', B, C = silu(conv(xBC))                             H heads of width P; B, C in G groups of width N
    Δ = softplus(δ + b_Δ),  A = -exp(A_log)                one of each per head
    h_t = e^{Δ_t A} h_{t-1} + Δ_t B_t x'_tᵀ,   y_t = h_tᵀ C_t + D x'_t
    out = (RMSNorm(y ⊙ silu(z)) ⊙ w) W_out                 the norm over each of the G groups

Starts with A ~ U(1, 16), D = 1, Δ log-uniform between 0.001 and 0.1.

Options: Δ starts in another range or at one bias; A = -f(x) with f(x) = 1 + x for x >= 0, 1/(1 - x) below. Mimetic
(Trockman et al. 2024): A = -e⁻⁸, W_δ = 0, Δ = 1, W_B = W_C with orthonormal rows per group, the convolution a delta.

Dao & Gu 2024. Departs from it: no bounds on Δ, no initial state; without the convolution (`d_conv=0`) the SiLU stays;
RoPE may turn B and C; with `at` the outputs are computed at the asked rows only.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import Decaying, MatrixMixer, Mimetic, Place, rows_at
from recollect.mixers.parts import (
    MIMETIC_BIAS,
    MIMETIC_DECAY,
    RMSNorm,
    ShortConv,
    conv_silu,
    decay_parameter,
    decay_rate,
    draw_dt_bias,
    join_heads,
    orthonormal,
    split_heads,
    turn,
)
from recollect.ops.forms import pick
from recollect.ops.ssd import ssd_matrix
from recollect.spec.mixers.ssm import Mamba2Options


class Mamba2(MatrixMixer, Decaying, Mimetic):
    """A selective state-space model with a scalar decay per head."""

    dynamics: ClassVar[tuple[str, ...]] = ("A_log", "D", "dt_bias")

    def __init__(self, options: Mamba2Options, place: Place) -> None:
        super().__init__()
        assert options.head_dim is not None
        self.options = options
        self.scan, self.gate = pick("ssd", place.kernel), pick("gate", place.kernel)
        inner, grouped = options.expand * place.d_model, options.n_groups * options.d_state
        self.n_heads = inner // options.head_dim
        self.sizes = [inner, inner + 2 * grouped, self.n_heads]  # of z, xBC, δ
        self.branches = [inner, grouped, grouped]  # of x', B, C
        self.in_proj = nn.Linear(place.d_model, sum(self.sizes), bias=False)
        self.conv = conv_silu(self.sizes[1], options.d_conv, place.kernel, bias=True)
        self.dt_bias = nn.Parameter(draw_dt_bias(self.n_heads, options))
        self.A_log = nn.Parameter(decay_parameter(torch.empty(self.n_heads).uniform_(1, 16), options.decay))
        self.D = nn.Parameter(torch.ones(self.n_heads))
        self.norm = RMSNorm(inner, place.kernel, options.n_groups)
        self.out_proj = nn.Linear(inner, place.d_model, bias=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        v, dt, g, B, C = self._inputs(x)
        return self.finish(self.scan(v, dt, g, B, C, self.D, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        v, dt, g, B, C = self._inputs(x)
        return ssd_matrix(dt, g, B, C, self.D), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        z = F.linear(x, self.in_proj.weight.split(self.sizes)[0])
        out: Tensor = self.out_proj(self.norm(self.gate(join_heads(y), z)))
        return out

    def decays(self, x: Tensor) -> Tensor:
        """exp(Δ A) of every head."""
        _, _, g, _, _ = self._inputs(x)
        return g.exp().transpose(1, 2)

    def fused(self) -> dict[str, list[int]]:
        return {"in_proj.weight": [self.sizes[0], *self.branches, self.sizes[2]]}

    def state_size(self, length: int) -> int:
        """The states of all heads, and the tokens that the convolution still sees."""
        return self.sizes[0] * self.options.d_state + self.sizes[1] * max(self.options.d_conv - 1, 0)

    @torch.no_grad()
    def mimic(self) -> None:
        _, to_xBC, to_dt = self.in_proj.weight.split(self.sizes)
        _, to_B, to_C = to_xBC.split(self.branches)
        d, groups = self.in_proj.in_features, self.options.n_groups
        to_B.copy_(torch.cat([orthonormal(self.options.d_state, d) for _ in range(groups)]))
        to_C.copy_(to_B)
        to_dt.zero_()
        self.dt_bias.fill_(MIMETIC_BIAS)
        self.A_log.copy_(decay_parameter(torch.full_like(self.A_log, MIMETIC_DECAY), self.options.decay))
        if isinstance(self.conv, ShortConv):
            self.conv.pass_through()

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """x' (B, H, L, P), Δ and its log-decay Δ A (B, H, L), B and C (B, G, L, N)."""
        _, to_xBC, to_dt = self.in_proj.weight.split(self.sizes)
        v, B, C = self.conv(F.linear(x, to_xBC)).split(self.branches, dim=-1)
        dt = F.softplus(F.linear(x, to_dt) + self.dt_bias)
        B, C = split_heads(B, self.options.n_groups), split_heads(C, self.options.n_groups)
        if self.options.positions == "rope":
            B, C = turn(B, C)
        g = dt * decay_rate(self.A_log, self.options.decay)
        return split_heads(v, self.n_heads), dt.transpose(1, 2), g.transpose(1, 2), B, C
