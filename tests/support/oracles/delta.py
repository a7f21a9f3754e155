"""Other people's delta rules, plain and gated, and the layer of transformers with the weights of ours.

The cores take what ours take: q (scaled already), k (B, H, L, K), v (B, H, L, P), β and g (B, H, L).
"""

import math

import torch
from torch import Tensor, nn
from transformers import OlmoHybridConfig
from transformers.models.olmo_hybrid.modeling_olmo_hybrid import OlmoHybridGatedDeltaNet, torch_chunk_gated_delta_rule

from recollect.mixers.deltanet import DeltaNet
from recollect.mixers.gated_deltanet import GatedDeltaNet
from tests.support.oracles.fla import load_naive


def fla_delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    """fla's recurrence without decay, in single precision."""
    o: Tensor = load_naive("delta_rule").delta_rule_recurrence(q * math.sqrt(q.shape[-1]), k, v, beta)[0]
    return o


def fla_gated_delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor) -> Tensor:
    """fla's recurrence with decay, in single precision."""
    naive = load_naive("gated_delta_rule").naive_recurrent_gated_delta_rule
    o: Tensor = naive(*(m.transpose(1, 2) for m in (q, k, v, beta, g)), scale=1.0)[0]
    return o.transpose(1, 2)


def fla_gated_delta_chunks(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor) -> Tensor:
    """fla's chunks with decay, in single precision."""
    naive = load_naive("gated_delta_rule").naive_chunk_gated_delta_rule
    o: Tensor = naive(*(m.transpose(1, 2) for m in (q, k, v, g, beta)), chunk_size=16, scale=1.0)[0]
    return o.transpose(1, 2)


def transformers_delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None = None) -> Tensor:
    """transformers' chunks, in single precision; without g the decay is 1."""
    g = torch.zeros_like(beta) if g is None else g
    q, k, v, g, beta = (m.transpose(1, 2) for m in (q * math.sqrt(q.shape[-1]), k, v, g, beta))
    o: Tensor = torch_chunk_gated_delta_rule(q, k, v, g, beta)[0]
    return o.transpose(1, 2)


def transformers_layer(mixer: DeltaNet | GatedDeltaNet) -> nn.Module:
    """transformers' Gated DeltaNet; for a DeltaNet, which must have its gate, with a decay of 1."""
    negative = isinstance(mixer, DeltaNet) and mixer.options.negative_eigenvalues
    d, wide = mixer.out_proj.out_features, mixer.out_proj.in_features
    config = OlmoHybridConfig(
        hidden_size=d,
        num_hidden_layers=2,
        num_attention_heads=mixer.n_heads,
        linear_key_head_dim=d // mixer.n_heads,
        linear_value_head_dim=wide // mixer.n_heads,
        linear_conv_kernel_dim=mixer.options.d_conv,
        linear_allow_neg_eigval=negative,
    )
    oracle: nn.Module = OlmoHybridGatedDeltaNet(config, layer_idx=0)
    ours = in_their_words({name: p.detach() for name, p in mixer.named_parameters()})
    with torch.no_grad():
        if isinstance(mixer, DeltaNet):
            oracle.get_parameter("A_log").fill_(-1e4)
        for name, p in oracle.named_parameters():
            if name in ours:
                p.copy_(ours.pop(name))
    assert not ours
    return oracle


def in_their_words(ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights, or their gradients, under their names: one convolution over q, k and v side by side."""
    made = {"conv1d.weight": torch.cat([ours[f"{name}_conv.weight"] for name in "qkv"]).unsqueeze(1)}
    for name, value in ours.items():
        if "_conv" not in name:
            made[name.replace("out_proj", "o_proj").replace("norm.", "o_norm.")] = value
    return made
