"""Hyena of order 2: a convolution as long as the row, between two gates.

The kernel is not stored tap by tap: a small network writes it, and a fixed decay per channel bounds its reach.

    [x1, x2, v] = DW(x W_in + b_in)                      a short causal depthwise convolution on all three
    z = v ⊙ x1;  y = (h ∗ z + β ⊙ z) ⊙ x2;  out = y W_o + b_o

    h_l = MLP(e_l) ⊙ exp(-t_l |δ|)                       t_l = l/(T-1), T the longest row
    e_l = [t_l, cos(f w_l), -sin(f w_l)]                 w_l = 2πl/T, f = 1e-4; trained from there
    MLP: three layers of sin(a ⊙ (· W + b)), a shared and trained from 1; then D outputs without bias
    δ from ln(0.01)/1.5 to ln(0.01)/0.3, evenly over the channels, fixed

The skip β is the tap l = 0. RoPE turns the input x.

Poli et al. 2023, as in Zoology (the authors' own code gates with x2 first, x1 last). Departs from it: the skip is
summed into the kernel, order 2 only, no dropout, no learning rates of its own for the filter.
"""

import math

import torch
from torch import Tensor, nn

from recollect.errors import BadInput
from recollect.mixers.mixer import MatrixMixer, Place, rows_at
from recollect.mixers.parts import ShortConv, with_skip
from recollect.ops.forms import pick
from recollect.ops.long_conv import toeplitz
from recollect.ops.rotary import rotate
from recollect.spec.mixers.ssm import HyenaOptions

BAND = 1e-4
TARGET, FAST, SLOW = 0.01, 0.3, 1.5


class Hyena(MatrixMixer):
    """Gate, long implicit convolution, gate."""

    def __init__(self, options: HyenaOptions, place: Place) -> None:
        super().__init__()
        self.options, d = options, place.d_model
        self.in_proj, self.out_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.conv = ShortConv(3 * d, options.d_conv, place.kernel)
        self.filter = ImplicitFilter(d, options.d_filter, place.length)
        self.beta = nn.Parameter(torch.randn(d))
        self.convolve = pick("long_conv", place.kernel)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        x1, x2, v = self._branches(x)
        y = self.convolve(v * x1, self._kernel(x.shape[1]))
        out: Tensor = self.out_proj(rows_at(y, at) * rows_at(x2, at))
        return out

    def mixing(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x1, x2, v = (branch.mT.unsqueeze(-1) for branch in self._branches(x))  # (B, D, L, 1)
        return x2 * toeplitz(self._kernel(x.shape[1]), x.shape[1]) * x1.mT, v

    def finish(self, y: Tensor, x: Tensor) -> Tensor:
        out: Tensor = self.out_proj(y.squeeze(-1).mT)
        return out

    def fused(self) -> dict[str, list[int]]:
        return {"in_proj.weight": [self.out_proj.in_features] * 3}

    def state_size(self, length: int) -> int:
        """The gated value z of every token, and the short convolution's last inputs."""
        d = self.out_proj.in_features
        return length * d + 3 * d * (self.options.d_conv - 1)

    def _branches(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x1, x2, v, each (B, L, D)."""
        turned = rotate(x) if self.options.positions == "rope" else x
        x1, x2, v = self.conv(self.in_proj(turned)).chunk(3, dim=-1)
        return x1, x2, v

    def _kernel(self, length: int) -> Tensor:
        """h + β e_0 (D, L)."""
        return with_skip(self.filter(length), self.beta)


class ImplicitFilter(nn.Module):
    """The kernel h (D, L) of rows of up to `longest` tokens."""

    delta: Tensor
    t: Tensor

    def __init__(self, channels: int, width: int, longest: int) -> None:
        super().__init__()
        self.longest = longest
        t = torch.linspace(0, 1, longest)
        angle = BAND * 2 * math.pi * torch.arange(longest) / longest
        self.e = nn.Parameter(torch.stack((t, angle.cos(), -angle.sin()), dim=-1))  # (T, 3)
        self.hidden = nn.ModuleList(nn.Linear(n, width) for n in (3, width, width))
        self.frequency = nn.Parameter(torch.ones(width))
        self.last = nn.Linear(width, channels, bias=False)
        self.register_buffer("t", t, persistent=False)
        slow, fast = math.log(TARGET) / SLOW, math.log(TARGET) / FAST
        self.register_buffer("delta", torch.linspace(slow, fast, channels), persistent=False)

    def forward(self, length: int) -> Tensor:
        if length > self.longest:
            raise BadInput(f"hyena: its filter covers {self.longest} tokens (got a row of {length}); build it longer")
        h = self.e[:length]
        for layer in self.hidden:
            h = torch.sin(self.frequency * layer(h))
        decay = torch.exp(-self.t[:length].unsqueeze(-1) * self.delta.abs())  # (L, D)
        taps: Tensor = self.last(h) * decay
        return taps.T
