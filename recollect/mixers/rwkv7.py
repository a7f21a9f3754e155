"""RWKV-7: the time mix. Its state fades per channel, forgets along one direction and learns along another.

    x̃_t = x_{t-1} (0 before the first);   x^m = μ_m ⊙ x + (1 - μ_m) ⊙ x̃   for m in r, w, k, v, a, g
    r = W_r x^r,   k = W_k x^k,   v = W_v x^v                              H heads of width P
    w = exp(-e^{-1/2} σ(w_0 + tanh(x^w W_1) W_2)),   a = σ(a_0 + x^a A_1 A_2),   z = σ(x^g G_1) G_2
    κ̂ = norm(k ⊙ k_k) per head,   k̃ = k ⊙ (1 + (a - 1) ⊙ k_a)
    S_t = w_t ⊙ S_{t-1} - (a_t ⊙ κ̂_t)(S_{t-1}ᵀ κ̂_t)ᵀ + k̃_t v_tᵀ,   o_t = S_tᵀ r_t
    out = W_o ((GroupNorm(o) + (r · (r_k ⊙ k̃)) v) ⊙ z)                     norm and bonus per head

Layer ℓ of n starts with, at channel h of D, r0 = ℓ/(n-1), r1 = 1 - ℓ/n, l = h/(D-1) - 1/2 and, at place p of a head,
z = ζ|ζ|, ζ = 2p/(P-1) - 1:

    μ = (h/D)^{c r1}, c = 0.2 for r and g, 0.9 for w and a, 0.7 for k and v
    w_0 = -5.5 + 6 (h/(D-1))^{1 + r0^0.3} + 2.5 z
    a_0 = -0.19 + 0.3 z + 0.4 l;   k_k = 0.71 - 0.1 l;   k_a = 1.02;   r_k = -0.04;   the norm's weight ((ℓ+1)/n)^0.7

W_r and W_v orthogonal, W_k a tenth of it, W_o zero; W_1, A_1, G_1 zero, W_2, A_2, G_2 orthogonal and a tenth long.

Peng et al. 2025. Departs from it: r0 = 0 when there is one layer, where a public one divides by zero; no value residual
(a mixer does not see the first layer's values); with `at` what follows the state is computed at the asked rows only.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import join_heads, split_heads
from recollect.ops.dplr import dplr_matrix
from recollect.ops.forms import pick
from recollect.spec.mixers.rnn import RWKV7Options

SHIFTS = {"r": 0.2, "w": 0.9, "k": 0.7, "v": 0.7, "a": 0.9, "g": 0.2}


class RWKV7(MatrixMixer):
    """The time mix."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("w_proj",)

    def __init__(self, options: RWKV7Options, place: Place) -> None:
        super().__init__()
        assert options.head_dim is not None
        self.options, self.n_heads, d = options, place.d_model // options.head_dim, place.d_model
        self.rule, self.shift = pick("dplr", place.kernel), pick("token_shifts", place.kernel)
        self.keys, self.norm = pick("removal_keys", place.kernel), pick("bonus_norm", place.kernel)
        r0, r1 = place.layer / max(place.n_layers - 1, 1), 1 - place.layer / place.n_layers
        h = torch.arange(d)
        along, zigzag = h / max(d - 1, 1) - 0.5, 2 * (h % options.head_dim) / max(options.head_dim - 1, 1) - 1
        zigzag = zigzag * zigzag.abs()
        shifts = {m: nn.Parameter((h / d) ** (c * r1)) for m, c in SHIFTS.items() if m != "g" or options.gate}
        self.mu = nn.ParameterDict(shifts)
        self.r_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d, bias=False) for _ in range(4))
        for project, gain in ((self.r_proj, 1.0), (self.k_proj, 0.1), (self.v_proj, 1.0)):
            nn.init.orthogonal_(project.weight, gain)
        nn.init.zeros_(self.out_proj.weight)
        rank = low_rank(2.5 * options.head_dim / 64, d)
        self.w_proj = _bottleneck(d, rank, nn.Tanh(), -5.5 + 6 * (along + 0.5) ** (1 + r0**0.3) + 2.5 * zigzag)
        self.a_proj = _bottleneck(d, rank, nn.Identity(), -0.19 + 0.3 * zigzag + 0.4 * along)
        if options.gate:
            self.g_proj = _bottleneck(d, low_rank(5.0, d), nn.Sigmoid(), None)
        self.k_k, self.k_a = nn.Parameter(0.71 - 0.1 * along), nn.Parameter(torch.full((d,), 1.02))
        self.r_k = nn.Parameter(torch.full((self.n_heads, 1, options.head_dim), -0.04))
        self.norm_weight = nn.Parameter(torch.full((d,), ((place.layer + 1) / place.n_layers) ** 0.7))
        self.norm_bias = nn.Parameter(torch.zeros(d))

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        r, k, v, g, a, b, *gated = self._inputs(x)
        o = self.rule(*(split_heads(m, self.n_heads) for m in (r, k, v, g, a, b)), self.options.chunk, at)
        return self._receive(o, *(rows_at(m, at) for m in (r, k, v, *gated)))

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        r, k, v, g, a, b = (split_heads(m, self.n_heads) for m in self._inputs(x)[:6])
        return dplr_matrix(r, k, g, a, b), v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        r, k, v, _, _, _, *gated = self._inputs(x)
        return self._receive(y, r, k, v, *gated)

    def state_size(self, length: int) -> int:
        """The matrices of all heads, and the last token."""
        d = self.out_proj.in_features
        return d * d // self.n_heads + d

    def _inputs(self, x: Tensor) -> tuple[Tensor, ...]:
        """r, k̃, v, log w, what reads and takes from the faded state, κ̂/w and -a ⊙ κ̂, and perhaps x^g; all (B, L, D)."""
        shifted = dict(zip(self.mu, self.shift(x, torch.stack(list(self.mu.values()))), strict=True))
        r, k, v = self.r_proj(shifted["r"]), self.k_proj(shifted["k"]), self.v_proj(shifted["v"])
        w, a = self.w_proj(shifted["w"]), self.a_proj(shifted["a"])
        g, k, read, removed = self.keys(k, w, a, self.k_k, self.k_a, self.n_heads)
        return r, k, v, g, read, removed, *(shifted[m] for m in "g" if m in shifted)

    def _receive(self, y: Tensor, r: Tensor, k: Tensor, v: Tensor, gated: Tensor | None = None) -> Tensor:
        """From o (B, H, Q, P), and r, k̃, v and x^g, at the rows asked for to the output there."""
        z = torch.ones_like(v) if gated is None else self.g_proj(gated)
        given = (join_heads(y), r, k, v, z, self.norm_weight, self.norm_bias, self.r_k.flatten())
        out: Tensor = self.out_proj(self.norm(*given, self.n_heads))
        return out


def low_rank(factor: float, d_model: int) -> int:
    """The paper's ranks grow with the root of the width, in steps of 32."""
    return max(32, round(factor * math.sqrt(d_model) / 32) * 32)


def _bottleneck(d: int, rank: int, inside: nn.Module, bias: Tensor | None) -> nn.Sequential:
    """A low-rank projection that starts as its bias."""
    first, second = nn.Linear(d, rank, bias=False), nn.Linear(rank, d, bias=bias is not None)
    nn.init.zeros_(first.weight)
    nn.init.orthogonal_(second.weight, 0.1 * math.sqrt(max(1, rank / d)))
    if bias is not None:
        with torch.no_grad():
            second.bias.copy_(bias)
    return nn.Sequential(first, inside, second)
