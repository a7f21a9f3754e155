"""Small modules that several mixers are made of."""

import math

import torch
from torch import Tensor, nn

from recollect.ops.forms import Kernel, pick
from recollect.ops.rotary import rotate


class ShortConv(nn.Module):
    """Causal depthwise convolution, perhaps with a SiLU after it; torch's default initialisation U(±1/√K)."""

    def __init__(self, channels: int, taps: int, kernel: Kernel, bias: bool = True, silu: bool = False) -> None:
        super().__init__()
        self.silu = silu
        bound = 1 / math.sqrt(taps)
        self.weight = nn.Parameter(torch.empty(channels, taps).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(channels).uniform_(-bound, bound)) if bias else None
        self.convolve = pick("causal_conv", kernel)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.convolve(x, self.weight, self.bias, self.silu)
        return y


def conv_silu(channels: int, taps: int, kernel: Kernel, bias: bool = False) -> nn.Module:
    """A short convolution and its SiLU; without taps the SiLU alone."""
    return ShortConv(channels, taps, kernel, bias, silu=True) if taps else nn.SiLU()


def conv_or_nothing(channels: int, taps: int, kernel: Kernel) -> nn.Module:
    """A short convolution and its SiLU; without taps neither."""
    return ShortConv(channels, taps, kernel, bias=False, silu=True) if taps else nn.Identity()


class RMSNorm(nn.Module):
    """RMSNorm over each of some groups of channels, with a weight per channel that starts at 1."""

    def __init__(self, channels: int, kernel: Kernel, groups: int = 1) -> None:
        super().__init__()
        self.weight, self.groups = nn.Parameter(torch.ones(channels)), groups
        self.normalise = pick("rms_norm", kernel)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.normalise(x, self.weight, 1e-5, self.groups)
        return y


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, L, H·P) -> (B, H, L, P)."""
    y: Tensor = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    return y


def join_heads(x: Tensor) -> Tensor:
    """(B, H, L, P) -> (B, L, H·P)."""
    return x.transpose(1, 2).flatten(-2)


def turn(q: Tensor, k: Tensor, at: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """RoPE on q and k (..., L, P); with rows `at` (B, Q) q is (B, H, Q, P) and holds just these."""
    return rotate(q, None if at is None else at.unsqueeze(1)), rotate(k)


def with_skip(h: Tensor, skip: Tensor) -> Tensor:
    """The kernel h (C, L) with a skip per channel (C,) added to its first tap."""
    return torch.cat((h[:, :1] + skip.unsqueeze(-1), h[:, 1:]), dim=1)


def draw_dt_bias(n: int) -> Tensor:
    """softplus⁻¹(Δ) for n steps Δ, log-uniform between 0.001 and 0.1 and at least 0.0001."""
    dt = torch.empty(n).uniform_(math.log(1e-3), math.log(1e-1)).exp().clamp(min=1e-4)
    return dt + torch.log(-torch.expm1(-dt))
