"""RWKV-4: time mix and channel mix.

Time mix: every channel keeps an average of its values, weighted by exp(key) and fading at its own speed w:

    x̃_t = x_{t-1} (0 before the first);   x^m = μ_m ⊙ x + (1 - μ_m) ⊙ x̃   for m in k, v, r
    k = W_k x^k;   v = W_v x^v;   r = σ(W_r x^r);   w = exp(time_decay)
    y_t = [Σ_{i<t} e^{-(t-1-i) w + k_i} v_i + e^{u + k_t} v_t] / [Σ_{i<t} e^{-(t-1-i) w + k_i} + e^{u + k_t}]
    out = W_o (r ⊙ y)

Channel mix, its MLP: out = σ(W_r x^r) ⊙ W_v relu(W_k x^k)².

Layer ℓ of n starts with, at channel h of D, r0 = ℓ/(n-1) and r1 = 1 - ℓ/n:

    time_decay = -5 + 8 (h/(D-1))^{0.7 + 1.3 r0};   u = ln 0.3 + 0.5 ((h+1) mod 3 - 1)
    μ_k = (h/D)^{r1};   μ_v = μ_k + 0.3 r0;   μ_r = (h/D)^{0.5 r1}, but (h/D)^{r1} in the channel mix

W_k, W_r, W_o of the time mix and W_r, W_v of the channel mix at zero, the others orthogonal, √(rows/columns) long if
tall. No biases.

Peng et al. 2023. Departs from it: r0 = 0 when there is one layer, where theirs divides by zero; positions="rope"
turns the input. `W_v` of the channel mix is called `out_proj`, as all that writes to the residual stream.
"""

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.ops.forms import pick
from recollect.ops.rotary import rotate
from recollect.ops.sigmoid_gate import sigmoid_gate_torch
from recollect.ops.token_shift import previous
from recollect.ops.wkv import wkv_weights
from recollect.spec.mixers.rnn import RWKV4Options


class RWKV4(MatrixMixer):
    """The time mix."""

    zoology_rescales: ClassVar[bool] = False
    dynamics: ClassVar[tuple[str, ...]] = ("time_decay", "u")

    def __init__(self, options: RWKV4Options, place: Place) -> None:
        super().__init__()
        self.rotated = options.positions == "rope"
        self.average, self.shift = pick("wkv", place.kernel), pick("token_shift", place.kernel)
        self.gate = pick("sigmoid_gate", place.kernel)
        d, r0, r1 = place.d_model, place.layer / max(place.n_layers - 1, 1), 1 - place.layer / place.n_layers
        h = torch.arange(d)
        self.time_decay = nn.Parameter(-5 + 8 * (h / max(d - 1, 1)) ** (0.7 + 1.3 * r0))
        self.u = nn.Parameter(math.log(0.3) + 0.5 * ((h + 1) % 3 - 1))
        self.mu_k = nn.Parameter((h / d) ** r1)
        self.mu_v = nn.Parameter((h / d) ** r1 + 0.3 * r0)
        self.mu_r = nn.Parameter((h / d) ** (0.5 * r1))
        self.k_proj, self.r_proj, self.out_proj = (_zero(d, d) for _ in range(3))
        self.v_proj = _orthogonal(d, d)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        x = rotate(x) if self.rotated else x
        y = self.average(self.time_decay.exp(), self.u, *self._keys_and_values(x))
        return self._receive(rows_at(y, at), x, at)

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        k, v = self._keys_and_values(rotate(x) if self.rotated else x)
        return wkv_weights(self.time_decay.exp(), self.u, k), v.transpose(1, 2).unsqueeze(-1)

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        return self._receive(y.squeeze(-1).transpose(1, 2), rotate(x) if self.rotated else x, None)

    def state_size(self, length: int) -> int:
        """The last token, and a numerator, a denominator and their common exponent per channel."""
        return 4 * self.out_proj.in_features

    def _keys_and_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.k_proj(self.shift(x, self.mu_k)), self.v_proj(self.shift(x, self.mu_v))

    def _receive(self, y: Tensor, x: Tensor, at: Tensor | None) -> Tensor:
        """W_o (r ⊙ y) at the rows asked for, which y holds."""
        shifted = self.shift(x, self.mu_r) if at is None else _shift_rows(x, self.mu_r, at)
        out: Tensor = self.out_proj(self.gate(self.r_proj(shifted), y))
        return out


class ChannelMix(nn.Module):
    """The channel mix, in the place of a block's MLP; it looks at the token before, so it takes all of x."""

    def __init__(self, d_model: int, expansion: int, layer: int, n_layers: int) -> None:
        super().__init__()
        mu = (torch.arange(d_model) / d_model) ** (1 - layer / n_layers)
        self.mu_k, self.mu_r = nn.Parameter(mu), nn.Parameter(mu.clone())
        self.k_proj = _orthogonal(d_model, expansion * d_model)
        self.r_proj = _zero(d_model, d_model)
        self.out_proj = _zero(expansion * d_model, d_model)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        """All rows (B, L, D), or only the rows `at` (B, Q) of them (B, Q, D)."""
        k = self.k_proj(_shift_rows(x, self.mu_k, at))
        r = self.r_proj(_shift_rows(x, self.mu_r, at))
        return sigmoid_gate_torch(r, self.out_proj(F.relu(k).square()))  # it is told no kernel


def _shift_rows(x: Tensor, mu: Tensor, at: Tensor | None) -> Tensor:
    """μ ⊙ x_t + (1 - μ) ⊙ x_{t-1} at the rows asked for."""
    x = x.to(mu.dtype)
    return torch.lerp(rows_at(previous(x), at), rows_at(x, at), mu)


def _zero(d_in: int, d_out: int) -> nn.Linear:
    linear = nn.Linear(d_in, d_out, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def _orthogonal(d_in: int, d_out: int) -> nn.Linear:
    linear = nn.Linear(d_in, d_out, bias=False)
    nn.init.orthogonal_(linear.weight, gain=math.sqrt(max(1, d_out / d_in)))
    return linear
