"""The layers of the newer mixers, spelled out in torch's own functions around other people's recurrences.

Each takes a mixer of ours and gives a function of x that uses its very parameters, whose gradients can be compared.
Heads come after time, (B, L, H, P), as flash-linear-attention wants them.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.models.llama.modeling_llama import rotate_half

from recollect.mixers.gla import GLA
from recollect.mixers.retnet import RetNet
from tests.support.oracles.fla import load_naive

Layer = Callable[[Tensor], Tensor]


def convolved(project: nn.Module, conv: nn.Module, x: Tensor) -> Tensor:
    """silu(conv(x W)), or x W."""
    y: Tensor = project(x)
    if isinstance(conv, nn.Identity):
        return y
    weight = conv.get_parameter("weight")
    y = F.conv1d(y.mT, weight.unsqueeze(1), padding=weight.shape[1] - 1, groups=len(weight))
    y = F.silu(y[..., : x.shape[1]].mT)
    return y


def heads(x: Tensor, n: int) -> Tensor:
    y: Tensor = x.unflatten(-1, (n, -1))
    return y


def normed(norm: nn.Module, o: Tensor) -> Tensor:
    return F.rms_norm(o, o.shape[-1:], norm.get_parameter("weight"), eps=1e-5).flatten(-2)


def turned(x: Tensor) -> Tensor:
    """Llama's rotation of x (B, L, H, P)."""
    angle = torch.outer(torch.arange(x.shape[1]), 10000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1]))
    angle = torch.cat((angle, angle), dim=-1).unsqueeze(1)
    return x * angle.cos() + rotate_half(x) * angle.sin()


def branches(mixer: nn.Module, x: Tensor, n_heads: int) -> list[Tensor]:
    return [heads(convolved(getattr(mixer, f"{c}_proj"), getattr(mixer, f"{c}_conv"), x), n_heads) for c in "qkv"]


def gla(mixer: GLA) -> Layer:
    """fla's recurrence."""

    def run(x: Tensor) -> Tensor:
        q, k, v = branches(mixer, x, mixer.n_heads)
        g = heads(F.logsigmoid(mixer.decay_proj(x)) / mixer.options.temperature, mixer.n_heads)
        o = normed(mixer.norm, load_naive("gla").naive_recurrent_gla(q, k, v, g)[0])
        out: Tensor = mixer.out_proj(o * F.silu(mixer.g_proj(x)) if mixer.options.gate else o)
        return out

    return run


def retnet(mixer: RetNet) -> Layer:
    """fla's retention over all pairs."""

    def run(x: Tensor) -> Tensor:
        q, k, v = branches(mixer, x, mixer.n_heads)
        if mixer.options.positions == "rope":
            q, k = turned(q), turned(k)
        o = load_naive("retention").naive_retention(*(m.transpose(1, 2) for m in (q, k, v))).transpose(1, 2)
        o = normed(mixer.norm, o)
        out: Tensor = mixer.out_proj(o * F.silu(mixer.g_proj(x)) if mixer.options.gate else o)
        return out

    return run
