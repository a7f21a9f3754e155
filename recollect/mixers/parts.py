"""Small modules that several mixers are made of."""

import math

import torch
from torch import Tensor, nn

from recollect.ops.forms import Kernel, pick
from recollect.ops.rotary import rotate
from recollect.spec.mixers.options import SteppedOptions
from recollect.spec.mixers.ssm import Decay

SLOWEST = 1e-4
"""A bounded decay is at least so fast."""

MIMETIC_DECAY, MIMETIC_BIAS = math.exp(-8), math.log(math.e - 1)
"""-A, and the bias of Δ = 1, of a layer that starts near attention."""


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

    @torch.no_grad()
    def pass_through(self) -> None:
        """Make it a delta: every token sees itself."""
        self.weight.zero_()[:, -1] = 1
        if self.bias is not None:
            self.bias.zero_()


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


def draw_dt_bias(n: int, options: SteppedOptions) -> Tensor:
    """softplus⁻¹(Δ) for n steps Δ, log-uniform in their range and at least 0.0001; or the bias that is asked for."""
    if options.dt_start != "drawn":
        return torch.full((n,), 0.0 if options.dt_start == "bias 0" else 1.0)
    dt = torch.empty(n).uniform_(math.log(options.dt_min), math.log(options.dt_max)).exp().clamp(min=1e-4)
    return dt + torch.log(-torch.expm1(-dt))


def bounded(x: Tensor) -> Tensor:
    """1 + x for x >= 0, 1/(1 - x) below, and never under SLOWEST: grows like a line, where exp runs away."""
    return torch.where(x >= 0, 1 + x, 1 / (1 - x.clamp(max=0))).clamp(min=SLOWEST)


def decay_rate(x: Tensor, form: Decay) -> Tensor:
    """A from its parameter."""
    return -(x.exp() if form == "exp" else bounded(x))


def decay_parameter(rate: Tensor, form: Decay) -> Tensor:
    """The parameter whose A is -rate."""
    return rate.log() if form == "exp" else torch.where(rate >= 1, rate - 1, 1 - 1 / rate)


def orthonormal(rows: int, columns: int) -> Tensor:
    """A random W for which WᵀW is as near to the identity as its rank allows: a projection."""
    return nn.init.orthogonal_(torch.empty(rows, columns))
