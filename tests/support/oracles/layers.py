"""The layers of the newer mixers, spelled out in torch's own functions around other people's recurrences.

Each takes a mixer of ours and gives a function of x that uses its very parameters, whose gradients can be compared.
Heads come after time, (B, L, H, P), as flash-linear-attention wants them.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F
from transformers import KimiLinearConfig, xLSTMConfig
from transformers.models.kimi_linear.modeling_kimi_linear import KimiLinearDeltaAttention
from transformers.models.llama.modeling_llama import rotate_half
from transformers.models.xlstm.modeling_xlstm import xLSTMLayer

from recollect.mixers.gated_deltaproduct import GatedDeltaProduct
from recollect.mixers.gla import GLA
from recollect.mixers.kda import KDA
from recollect.mixers.mamba3 import Mamba3
from recollect.mixers.mlstm import MLSTM
from recollect.mixers.parts import ShortConv
from recollect.mixers.retnet import RetNet
from recollect.mixers.rwkv7 import RWKV7
from tests.support.oracles.fla import load_naive

Layer = Callable[[Tensor], Tensor]


def convolved(project: nn.Module, conv: nn.Module, x: Tensor) -> Tensor:
    """silu(conv(x W)), or what stands for the convolution."""
    y: Tensor = project(x)
    if not isinstance(conv, ShortConv):
        activated: Tensor = conv(y)
        return activated
    weight = conv.get_parameter("weight")
    y = F.conv1d(y.mT, weight.unsqueeze(1), padding=weight.shape[1] - 1, groups=len(weight))
    return F.silu(y[..., : x.shape[1]].mT)


def heads(x: Tensor, n: int) -> Tensor:
    y: Tensor = x.unflatten(-1, (n, -1))
    return y


def normed(norm: nn.Module, o: Tensor) -> Tensor:
    y: Tensor = F.rms_norm(o, o.shape[-1:], norm.get_parameter("weight"), eps=1e-5)
    return y.flatten(-2)


def turned(x: Tensor) -> Tensor:
    """Llama's rotation of x (B, L, H, P)."""
    angle = torch.outer(torch.arange(x.shape[1]), 10000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1]))
    angle = torch.cat((angle, angle), dim=-1).unsqueeze(1)
    y: Tensor = x * angle.cos() + rotate_half(x) * angle.sin()
    return y


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


def kda(mixer: KDA) -> Layer:
    """fla's recurrence."""

    def run(x: Tensor) -> Tensor:
        q, k, v = branches(mixer, x, mixer.n_heads)
        q, k = (m * torch.rsqrt(m.square().sum(-1, keepdim=True) + 1e-6) for m in (q, k))
        g = heads(F.softplus(mixer.f_proj(x) + mixer.dt_bias), mixer.n_heads) * -mixer.A_log.exp().unsqueeze(-1)
        beta = mixer.b_proj(x).sigmoid() * (2 if mixer.options.negative_eigenvalues else 1)
        o = normed(mixer.norm, load_naive("kda").naive_recurrent_kda(q, k, v, g, beta)[0])
        out: Tensor = mixer.out_proj(o * mixer.g_proj(x).sigmoid())
        return out

    return run


def transformers_kda(mixer: KDA) -> Layer:
    """transformers' whole layer, in chunks."""
    d = mixer.out_proj.in_features
    config = KimiLinearConfig(
        hidden_size=d,
        linear_num_heads=mixer.n_heads,
        linear_head_dim=d // mixer.n_heads,
        linear_conv_kernel_dim=mixer.options.d_conv,
        rms_norm_eps=1e-5,
        num_hidden_layers=1,
        layer_types=["linear_attention"],
    )
    theirs = KimiLinearDeltaAttention(config, layer_idx=0)
    names = {
        "forget_gate.f_a_proj.weight": "f_proj.0.weight",
        "forget_gate.f_b_proj.weight": "f_proj.1.weight",
        "forget_gate.dt_bias": "dt_bias",
        "g_a_proj.weight": "g_proj.0.weight",
        "g_b_proj.weight": "g_proj.1.weight",
        "o_norm.weight": "norm.weight",
        "o_proj.weight": "out_proj.weight",
    }

    def run(x: Tensor) -> Tensor:
        ours: dict[str, Tensor] = {other: mixer.get_parameter(name) for other, name in names.items()}
        ours |= {f"{c}_proj.weight": mixer.get_parameter(f"{c}_proj.weight") for c in "qkvb"}
        ours["forget_gate.A_log"] = mixer.A_log.view(1, 1, -1, 1)
        ours["conv1d.weight"] = torch.cat([mixer.get_parameter(f"{c}_conv.weight") for c in "qkv"]).unsqueeze(1)
        assert ours.keys() == dict(theirs.named_parameters()).keys()
        out: Tensor = functional_call(theirs, ours, (x,))
        return out

    return run


def gated_deltaproduct(mixer: GatedDeltaProduct) -> Layer:
    """fla's recurrence."""
    n, h = mixer.n_steps, mixer.n_heads

    def run(x: Tensor) -> Tensor:
        q = heads(convolved(mixer.q_proj, mixer.q_conv, x), h)
        k, v = (
            convolved(project, conv, x).unflatten(-1, (n, h, -1)).flatten(1, 2)
            for project, conv in ((mixer.k_proj, mixer.k_conv), (mixer.v_proj, mixer.v_conv))
        )
        q, k = (m * torch.rsqrt(m.square().sum(-1, keepdim=True) + 1e-6) for m in (q, k))
        beta = mixer.b_proj(x).sigmoid().unflatten(-1, (n, h)).flatten(1, 2)
        beta = 2 * beta if mixer.options.negative_eigenvalues else beta
        g = -mixer.A_log.exp() * F.softplus(mixer.a_proj(x) + mixer.dt_bias)
        naive = load_naive("gated_delta_product").naive_recurrent_gated_delta_product
        o = normed(mixer.norm, naive(q, k, v, g, beta, q.shape[-1] ** -0.5, num_householder=n)[0])
        out: Tensor = mixer.out_proj(o * F.silu(mixer.g_proj(x)))
        return out

    return run


def rwkv7(mixer: RWKV7) -> Layer:
    """fla's recurrence, which scales r."""
    h = mixer.n_heads

    def shifted(x: Tensor, m: str) -> Tensor:
        before = torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), dim=1)
        return torch.addcmul(x, before - x, 1 - mixer.mu[m])

    def run(x: Tensor) -> Tensor:
        r, k, v = mixer.r_proj(shifted(x, "r")), mixer.k_proj(shifted(x, "k")), mixer.v_proj(shifted(x, "v"))
        w = -0.6065306597126334 * mixer.w_proj(shifted(x, "w")).sigmoid()
        a = mixer.a_proj(shifted(x, "a")).sigmoid()
        kk = F.normalize(heads(k * mixer.k_k, h), dim=-1)
        k = k + k * (a - 1) * mixer.k_a
        r, w, k, v, a = (heads(m, h) for m in (r, w, k, v, a))
        naive = load_naive("generalized_delta_rule/dplr").dplr_recurrence
        given = (r * r.shape[-1] ** 0.5, k, v, -kk, kk * a, w)
        o = naive(*(m.transpose(1, 2) for m in given))[0].transpose(1, 2)
        o = F.group_norm(o.flatten(-2).flatten(0, 1), h, mixer.norm_weight, mixer.norm_bias, 1e-5 * r.shape[-1])
        o = o.view_as(x) + ((r * k * mixer.r_k.squeeze(1)).sum(-1, keepdim=True) * v).flatten(-2)
        out: Tensor = mixer.out_proj(o * mixer.g_proj(shifted(x, "g")) if mixer.options.gate else o)
        return out

    return run


def mlstm(mixer: MLSTM) -> Layer:
    """transformers' whole layer, over all pairs."""
    names = {f"{c}.weight": f"{c}_proj.weight" for c in "qkv"} | {
        "ogate_preact.weight": "z_proj.weight",
        "igate_preact.weight": "i_proj.weight",
        "igate_preact.bias": "i_proj.bias",
        "fgate_preact.weight": "f_proj.weight",
        "fgate_preact.bias": "f_proj.bias",
        "multihead_norm.weight": "norm_weight",
        "out_proj.weight": "out_proj.weight",
    }
    d, keys = mixer.out_proj.in_features, mixer.q_proj.out_features

    def run(x: Tensor) -> Tensor:
        config = xLSTMConfig(
            hidden_size=d,
            num_heads=mixer.n_heads,
            qk_dim_factor=keys / d,
            chunk_size=x.shape[1],
            num_hidden_layers=1,
            mode="train",
        )
        theirs = xLSTMLayer(config)
        ours: dict[str, Tensor] = {other: mixer.get_parameter(name) for other, name in names.items()}
        assert ours.keys() == dict(theirs.named_parameters()).keys()
        out: Tensor = functional_call(theirs, ours, (x,))[0]
        return out

    return run


def mamba3(mixer: Mamba3) -> Layer:
    """The step of the authors' tests, written anew: one token at a time, the angles kept within a turn."""
    h = mixer.n_heads

    def turned(x: Tensor, angle: Tensor) -> Tensor:
        made = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        made = made * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(made).flatten(-2)

    def step(x: Tensor, state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        z, v, B, C, dt, rate, share, theta = mixer.in_proj(x).split(mixer.sizes, dim=-1)
        S, angle, k_before, v_before = state
        B, C = (F.rms_norm(m, m.shape[-1:], n.weight, 1e-5) for m, n in ((B, mixer.B_norm), (C, mixer.C_norm)))
        k, q = B.unsqueeze(1) + mixer.B_bias[:, 0], C.unsqueeze(1) + mixer.C_bias[:, 0]  # (B, H, N)
        dt = F.softplus(dt + mixer.dt_bias)
        alpha = torch.exp(dt * torch.clamp(-F.softplus(rate), max=-1e-4))
        lam = share.sigmoid() if mixer.options.trapezoid else torch.ones_like(dt)
        angle = (angle + math.pi * theta.tanh().unsqueeze(1) * dt.unsqueeze(-1)) % (2 * math.pi)
        padded = F.pad(angle, (0, k.shape[-1] // 2 - angle.shape[-1]))
        k, q, v = turned(k, padded), turned(q, padded), heads(v, h)
        before = torch.einsum("bhn,bhp->bhpn", k_before, v_before)
        S = torch.einsum("bh,bhpn->bhpn", alpha, S + ((1 - lam) * dt)[..., None, None] * before)
        S = S + torch.einsum("bh,bhn,bhp->bhpn", lam * dt, k, v)
        y = torch.einsum("bhpn,bhn->bhp", S, q) + mixer.D.unsqueeze(-1) * v
        return mixer.out_proj(y.flatten(-2) * F.silu(z)), [S, angle, k, v]

    def run(x: Tensor) -> Tensor:
        n, p = mixer.options.d_state, mixer.sizes[1] // h
        state = [x.new_zeros(len(x), h, *shape) for shape in ((p, n), (mixer.n_angles,), (n,), (p,))]
        rows = []
        for t in range(x.shape[1]):
            y, state = step(x[:, t], state)
            rows.append(y)
        return torch.stack(rows, dim=1)

    return run
