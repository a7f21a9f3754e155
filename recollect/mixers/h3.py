"""H3: two state-space models and two products, as a memory for pairs.

A shift SSM lets a key look back a few tokens; a diagonal SSM keeps the outer products of keys and values; the query
reads them out. With heads of width P, H = D/P, and N the state:

    q, k, v = x W_q + b_q, x W_k + b_k, x W_v + b_v
    k̃_t = Σ_l κ_l ⊙ k_{t-l} + D_k ⊙ k_t                 κ_l[c] = Σ_n B[c, n] C[c, n+l],  l < N
    S_t = Σ_l K_l (k̃_{t-l} ⊗ v_{t-l}) + D (k̃_t ⊗ v_t)    per head, P x P
    K_l = 2 Re Σ_n C_n B̄_n Ā_n^l                         N/2 complex modes A = -exp(a) + iω, step Δ:
                                                         Ā = (1 + ΔA/2)/(1 - ΔA/2),  B̄ = ΔB/(1 - ΔA/2)
    o_t = q_t S_t;  out = o W_o + b_o

The skips D_k and D are the tap l = 0 of their kernels. RoPE turns k̃ and q in the pairs (i, i + P/2) of a head, its
frequencies falling from the first head to the last.

Fu et al. 2023. Departs from it: o is flattened with the head first (the original has it last; W_o absorbs that), the
skips are summed into the kernels, the powers of Ā are products instead of exp(l log Ā), no dropout.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import with_skip
from recollect.ops.forms import Kernel, pick
from recollect.ops.long_conv import long_conv_torch, toeplitz
from recollect.ops.rotary import rotate
from recollect.spec.mixers.ssm import H3Options

DT_MIN, DT_MAX = 1e-3, 1e-1


class H3(MatrixMixer):
    """Shift SSM on the keys, diagonal SSM on the outer products, read by the queries."""

    zoology_rescales = False
    dynamics: ClassVar[tuple[str, ...]] = ("shift", "diagonal")

    def __init__(self, options: H3Options, place: Place) -> None:
        super().__init__()
        assert options.d_state is not None
        self.options, d, self.head_dim = options, place.d_model, options.head_dim
        self.n_heads, N = d // options.head_dim, options.d_state
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))
        self.shift = ShiftSSM(d, N)
        self.diagonal = DiagonalSSM(self.n_heads, N, place.kernel)
        self.convolve = pick("long_conv", place.kernel)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        k, v = self._keys(x), self._project(self.v_proj, x)
        kv = (k.unsqueeze(2) * v.unsqueeze(1)).flatten(0, 2)  # (H·P·P, B, L)
        S = self.convolve(kv.permute(1, 2, 0), self.diagonal(x.shape[1])).permute(2, 0, 1)
        if at is not None:
            S = torch.take_along_dim(S, at.unsqueeze(0), dim=-1)
        q = self._queries(x, at).unsqueeze(2)
        return self._out((q * S.view(*k.shape[:2], -1, *q.shape[-2:])).sum(dim=1))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = self._queries(x, None), self._keys(x), self._project(self.v_proj, x)
        scores = torch.einsum("hpbi,hpbj->bhij", q, k)
        return scores * toeplitz(self.diagonal(x.shape[1]), x.shape[1]), v.permute(2, 0, 3, 1)

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        return self._out(y.permute(1, 3, 0, 2))

    def state_size(self, length: int) -> int:
        """The keys that the shift still holds, and N numbers for each product of a key and a value."""
        N, d = self.shift.C.shape[1], self.out_proj.in_features
        return (N - 1) * d + N * d * self.head_dim

    def _keys(self, x: Tensor) -> Tensor:
        """k̃ (H, P, B, L)."""
        k = self._project(self.k_proj, x)
        tokens = k.flatten(0, 1).permute(1, 2, 0)  # (B, L, D)
        return self._turn(self.convolve(tokens, self.shift(x.shape[1])).permute(2, 0, 1).view_as(k), None)

    def _queries(self, x: Tensor, at: Tensor | None) -> Tensor:
        """q at the asked rows, (H, P, B, Q)."""
        return self._turn(self._project(self.q_proj, rows_at(x, at)), at)

    def _project(self, linear: nn.Linear, x: Tensor) -> Tensor:
        """linear(x) as (H, P, B, L): with its channels first it meets the convolutions without a copy."""
        flat = torch.addmm(linear.bias.unsqueeze(-1), linear.weight, x.flatten(0, 1).T)  # (D, B·L)
        return flat.view(self.n_heads, -1, *x.shape[:2])

    def _turn(self, x: Tensor, at: Tensor | None) -> Tensor:
        """RoPE on x (H, P, B, Q), where asked for."""
        if self.options.positions == "none":
            return x
        halves = x.unflatten(1, (2, -1)).permute(3, 4, 1, 0, 2)  # (B, Q, 2, H, P/2)
        return rotate(halves.flatten(2), at).view_as(halves).permute(3, 2, 4, 0, 1).reshape(x.shape)

    def _out(self, o: Tensor) -> Tensor:
        """From o (H, P, B, Q) to the residual stream."""
        out: Tensor = self.out_proj(o.flatten(2).flatten(0, 1).T).view(*o.shape[2:], -1)
        return out


class ShiftSSM(nn.Module):
    """The kernel κ + D_k e_0 of a shift register, (D, min(N, L)); at first the register holds the last N tokens."""

    def __init__(self, channels: int, d_state: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(d_state)
        self.B = nn.Parameter(torch.eye(1, d_state).repeat(channels, 1))
        self.C = nn.Parameter(torch.empty(channels, d_state).uniform_(-bound, bound))
        self.D = nn.Parameter(torch.randn(channels))

    def forward(self, length: int) -> Tensor:
        # κ_l = Σ_n B_n C'_{N-1-l-n} with C' the reversed C: the convolution of the two, read backwards.
        kappa = long_conv_torch(self.C.flip(1).T.unsqueeze(0), self.B).squeeze(0).T.flip(1)  # under every kernel
        return with_skip(kappa[:, :length], self.D)


class DiagonalSSM(nn.Module):
    """The kernel K + D e_0 of complex modes, discretised bilinearly, (H, L); S4D-Lin initialisation."""

    def __init__(self, n_heads: int, d_state: int, kernel: Kernel) -> None:
        super().__init__()
        modes = d_state // 2
        self.log_dt = nn.Parameter(torch.empty(n_heads).uniform_(math.log(DT_MIN), math.log(DT_MAX)))
        self.a = nn.Parameter(torch.full((n_heads, modes), math.log(0.5)))
        self.omega = nn.Parameter(math.pi * torch.arange(modes, dtype=torch.float32).repeat(n_heads, 1))
        self.B = nn.Parameter(torch.tensor([1.0, 0.0]).repeat(n_heads, modes, 1))  # real and imaginary part
        self.C = nn.Parameter(torch.randn(n_heads, modes, 2) * math.sqrt(0.5))
        self.D = nn.Parameter(torch.randn(n_heads))
        self.write = pick("modes_kernel", kernel)

    def forward(self, length: int) -> Tensor:
        dt = self.log_dt.exp().unsqueeze(-1)
        half = torch.complex(-self.a.exp(), self.omega) * (dt / 2)  # ΔA/2
        A_bar = (1 + half) / (1 - half)
        weights = torch.view_as_complex(self.C) * torch.view_as_complex(self.B) * dt / (1 - half)
        return with_skip(self.write(weights, A_bar, length), self.D)
