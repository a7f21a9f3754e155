"""Mamba-3 (SISO): a state-space model with a trapezoidal step and a state that turns, without a convolution.

    z, x', B, C, δ, α, λ, θ = x W_in                       widths E D, E D, N, N, H, H, H, M; H heads of width P
    Δ = softplus(δ + b_Δ),   A = min(-softplus(α), -10⁻⁴),   λ <- σ(λ)      one of each per head and token
    B̄, C̄ = RMSNorm(B) ⊙ w_B + b_B, RMSNorm(C) ⊙ w_C + b_C                   the biases per head
    B̄, C̄ <- the pairs (2i, 2i + 1), i < M, turned by the sum of π tanh(θ_i) Δ up to the token
    h_t = e^{Δ_t A_t} (h_{t-1} + (1 - λ_t) Δ_t B̄_{t-1} x'_{t-1}ᵀ) + λ_t Δ_t B̄_t x'_tᵀ,   y_t = h_tᵀ C̄_t + D x'_t
    out = (y ⊙ silu(z)) W_out

M is a quarter of N: half of B and C turns. Starts with Δ log-uniform between 0.001 and 0.1, b_B = b_C = 1, D = 1.
Options: an Euler step (λ = 1), another share that turns, Δ starts in another range or at one bias, A = -f(α) with
f(α) = 1 + α for α >= 0, 1/(1 - α) below.

Lahoti et al. 2026, as its authors' code has it. Departs from it: B and C in one group, N = 64 where theirs is 128, no
MIMO; with `at` the outputs are computed at the asked rows only.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import SLOWEST, bounded, draw_dt_bias, join_heads, split_heads
from recollect.ops.forms import pick
from recollect.ops.trapezoid import trapezoid_matrix
from recollect.spec.mixers.ssm import Mamba3Options


class Mamba3(MatrixMixer):
    """A selective state-space model with a trapezoidal step and rotations."""

    dynamics: ClassVar[tuple[str, ...]] = ("dt_bias", "D")
    apart: Tensor

    def __init__(self, options: Mamba3Options, place: Place) -> None:
        super().__init__()
        assert options.head_dim is not None
        self.options = options
        self.scan, self.gate = pick("trapezoid", place.kernel), pick("gate", place.kernel)
        self.turn = pick("turned_norm", place.kernel)
        inner, n = options.expand * place.d_model, options.d_state
        self.n_heads, self.n_angles = inner // options.head_dim, int(n * options.rotation) // 2
        shares = self.n_heads if options.trapezoid else 0
        # of z, x', B, C, δ, α, λ, θ
        self.sizes = [inner, inner, n, n, self.n_heads, self.n_heads, shares, self.n_angles]
        self.in_proj = nn.Linear(place.d_model, sum(self.sizes), bias=False)
        self.dt_bias = nn.Parameter(draw_dt_bias(self.n_heads, options))
        self.B_norm, self.C_norm = nn.RMSNorm(n), nn.RMSNorm(n)  # their weights; `turn` normalises
        self.B_bias, self.C_bias = (nn.Parameter(torch.ones(self.n_heads, 1, n)) for _ in range(2))
        self.D = nn.Parameter(torch.ones(self.n_heads))
        self.out_proj = nn.Linear(inner, place.d_model, bias=False)
        # a state's channels have no order: pairs that lie apart, 0 2 4 ... 1 3 5 ..., are turned side by side
        pairs = torch.arange(2 * self.n_angles).view(-1, 2).T.flatten()
        self.register_buffer("apart", torch.cat((pairs, torch.arange(len(pairs), n))), persistent=False)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        v, dt, share, g, B, C = self._inputs(x)
        return self.finish(self.scan(v, dt, share, g, B, C, self.D, self.options.chunk, at), rows_at(x, at))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        v, dt, share, g, B, C = self._inputs(x)
        return trapezoid_matrix(dt, share, g, B, C, self.D), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        z = F.linear(x, self.in_proj.weight[: self.sizes[0]])
        out: Tensor = self.out_proj(self.gate(join_heads(y), z))
        return out

    def fused(self) -> dict[str, list[int]]:
        return {"in_proj.weight": [size for size in self.sizes if size]}

    def state_size(self, length: int) -> int:
        """The states and angles of all heads; for the trapezoid also the last B̄ and x'."""
        inner, n = self.sizes[1:3]
        return inner * n + self.n_heads * self.n_angles + self.options.trapezoid * (self.n_heads * n + inner)

    def _inputs(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """x' (B, H, L, P), Δ, λ and Δ A (B, H, L), B̄ and C̄ (B, H, L, N), their channels in the order of `apart`."""
        inner, _, n, _, *small = self.sizes
        _, W_v, W_B, W_C, W_small = self.in_proj.weight.split((inner, inner, n, n, sum(small)))
        v, BC = F.linear(x, W_v), F.linear(x, torch.cat((W_B[self.apart], W_C[self.apart])))
        dt, rate, share, angle = F.linear(x, W_small).split(small, dim=-1)
        dt = F.softplus(dt + self.dt_bias).transpose(1, 2)  # (B, H, L)
        activate = F.softplus if self.options.decay == "softplus" else bounded
        g = dt * (-activate(rate)).clamp(max=-SLOWEST).transpose(1, 2)
        share = share.sigmoid().transpose(1, 2) if self.options.trapezoid else torch.ones_like(dt)
        weight = torch.stack((self.B_norm.weight, self.C_norm.weight))[:, self.apart]
        bias = torch.stack((self.B_bias, self.C_bias))[:, :, 0, self.apart]
        B, C = self.turn(BC.unflatten(-1, (2, n)), weight, bias, angle, dt)
        return split_heads(v, self.n_heads), dt, share, g, B, C
