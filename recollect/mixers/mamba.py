"""Mamba's S6: a diagonal state-space model whose step, input and output follow the token.

Each of the D_i = E D channels keeps N numbers, which decay and are written to as the token says:

    v, z = x W_in;  v = silu(DW(v))                              DW a causal depthwise convolution
    δ, B, C = v W_x;  Δ = softplus(δ W_dt + b_dt);  A = -exp(A_log)
    h_t = exp(Δ_t A) ⊙ h_{t-1} + (Δ_t v_t) B_tᵀ;  y_t = h_t C_t + D ⊙ v_t
    out = (y ⊙ silu(z)) W_out

Starts with A = -(1..N), D = 1, Δ log-uniform between 0.001 and 0.1, and W_out divided by √n_layers.

Options: Δ starts in another range or at one bias; RMSNorm on B and C, or on δ, B and C (Lieber et al. 2024); A = -f(x)
with f(x) = 1 + x for x >= 0, 1/(1 - x) below. Mimetic (Trockman et al. 2024): A = -e⁻⁸, W_dt = 0, Δ = 1, W_B = W_C with
orthonormal rows, DW a delta.

Gu & Dao 2024 (there v is x). Departs from it: without the convolution (`d_conv=0`) the SiLU stays, without the gate
there is no z; RoPE may turn B and C; with `at` only the asked rows are gated and projected.
"""

import math
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
    turn,
)
from recollect.ops.forms import pick
from recollect.ops.selective_scan import selective_scan_matrix
from recollect.spec.mixers.ssm import MambaOptions


class Mamba(MatrixMixer, Decaying, Mimetic):
    """A selective state-space model with a decay per channel and state."""

    dynamics: ClassVar[tuple[str, ...]] = ("A_log", "D", "dt_proj")

    def __init__(self, options: MambaOptions, place: Place) -> None:
        super().__init__()
        assert options.dt_rank is not None
        self.options, self.scan = options, pick("selective_scan", place.kernel)
        self.step = pick("softplus_linear", place.kernel)
        self.gate = pick("gate", place.kernel) if options.gate else None
        inner, N, R = options.expand * place.d_model, options.d_state, options.dt_rank
        self.sizes = [R, N, N]  # of δ, B, C
        self.in_proj = nn.Linear(place.d_model, 2 * inner if options.gate else inner, bias=False)
        self.conv = conv_silu(inner, options.d_conv, place.kernel, bias=True)
        self.x_proj = nn.Linear(inner, sum(self.sizes), bias=False)
        self.dt_proj = nn.Linear(R, inner)
        self.A_log = nn.Parameter(decay_parameter(torch.arange(1.0, N + 1), options.decay).repeat(inner, 1))  # (D_i, N)
        self.D = nn.Parameter(torch.ones(inner))
        normed = {"none": (), "bc": (1, 2), "bcdt": (0, 1, 2)}[options.norms]
        self.norms = nn.ModuleDict({str(i): RMSNorm(self.sizes[i], place.kernel) for i in normed})
        self.out_proj = nn.Linear(inner, place.d_model, bias=False)
        with torch.no_grad():
            self.dt_proj.weight.uniform_(-(R**-0.5), R**-0.5)
            self.dt_proj.bias.copy_(draw_dt_bias(inner, options))
            self.out_proj.weight.div_(math.sqrt(place.n_layers))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        v, dt, B, C = self._inputs(x)
        y = self.scan(v, dt, self._rate(), B, C, self.D)
        return self._gate(rows_at(y, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        v, dt, B, C = self._inputs(x)
        return selective_scan_matrix(dt, self._rate(), B, C, self.D), v.transpose(1, 2).unsqueeze(-1)

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        return self._gate(join_heads(y), x)

    def decays(self, x: Tensor) -> Tensor:
        """exp(Δ A) of every channel and state."""
        _, dt, _, _ = self._inputs(x)
        return (dt.unsqueeze(-1) * self._rate()).exp().flatten(-2)

    def fused(self) -> dict[str, list[int]]:
        return {"in_proj.weight": [self.D.numel()] * (2 if self.options.gate else 1), "x_proj.weight": self.sizes}

    def state_size(self, length: int) -> int:
        """The states of all channels, and the tokens that the convolution still sees."""
        return self.D.numel() * (self.options.d_state + max(self.options.d_conv - 1, 0))

    @torch.no_grad()
    def mimic(self) -> None:
        R, N, _ = self.sizes
        self.A_log.copy_(decay_parameter(torch.full_like(self.A_log, MIMETIC_DECAY), self.options.decay))
        self.x_proj.weight[R:] = orthonormal(N, self.D.numel()).repeat(2, 1)
        self.dt_proj.weight.zero_()
        self.dt_proj.bias.fill_(MIMETIC_BIAS)
        if isinstance(self.conv, ShortConv):
            self.conv.pass_through()

    def _rate(self) -> Tensor:
        """A (D_i, N)."""
        return decay_rate(self.A_log, self.options.decay)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """v and Δ (B, L, D_i), B and C (B, L, N), in the precision of the weights also under autocast."""
        dtype = self.D.dtype
        v = self.conv(F.linear(x, self.in_proj.weight[: self.D.numel()]).to(dtype))
        parts = self.x_proj(v).split(self.sizes, dim=-1)
        delta, B, C = (self.norms[str(i)](y) if str(i) in self.norms else y for i, y in enumerate(parts))
        dt = self.step(delta, self.dt_proj.weight, self.dt_proj.bias)
        B, C = B.to(dtype), C.to(dtype)
        if self.options.positions == "rope":
            B, C = turn(B, C)
        return v, dt, B, C

    def _gate(self, y: Tensor, x: Tensor) -> Tensor:
        """The rows y, gated by the same rows of x and projected."""
        if self.gate is not None:
            y = self.gate(y, F.linear(x, self.in_proj.weight[self.D.numel() :]))
        out: Tensor = self.out_proj(y)
        return out
