"""transformers' RWKV-4, carrying the weights of ours."""

import torch
from torch import nn
from transformers.models.rwkv.configuration_rwkv import RwkvConfig
from transformers.models.rwkv.modeling_rwkv import RwkvFeedForward, RwkvModel, RwkvSelfAttention

from recollect.mixers.rwkv4 import RWKV4, ChannelMix

SHIFTS = {"mu_k": "time_mix_key", "mu_v": "time_mix_value", "mu_r": "time_mix_receptance"}
TIME_MIX = {
    **SHIFTS,
    "time_decay": "time_decay",
    "u": "time_first",
    "k_proj.weight": "key.weight",
    "v_proj.weight": "value.weight",
    "r_proj.weight": "receptance.weight",
    "out_proj.weight": "output.weight",
}
CHANNEL_MIX = {
    "mu_k": "time_mix_key",
    "mu_r": "time_mix_receptance",
    "k_proj.weight": "key.weight",
    "r_proj.weight": "receptance.weight",
    "out_proj.weight": "value.weight",
}
"""Our parameters' names to theirs; the μ of theirs are (1, 1, D)."""


def time_mix(mixer: RWKV4) -> nn.Module:
    """Their time mix; it returns (output, state)."""
    d = mixer.out_proj.in_features
    return _carry(mixer, RwkvSelfAttention(RwkvConfig(hidden_size=d, attention_hidden_size=d)), TIME_MIX)


def channel_mix(mixer: ChannelMix) -> nn.Module:
    """Their channel mix; it returns (output, state)."""
    config = RwkvConfig(hidden_size=mixer.r_proj.in_features, intermediate_size=mixer.out_proj.in_features)
    return _carry(mixer, RwkvFeedForward(config), CHANNEL_MIX)


def untrained(d_model: int, n_layers: int) -> RwkvModel:
    """Their model with their initialisation."""
    return RwkvModel(RwkvConfig(vocab_size=10, hidden_size=d_model, num_hidden_layers=n_layers))


def _carry(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> nn.Module:
    weights, places = dict(ours.named_parameters()), dict(theirs.named_parameters())
    assert set(weights) == set(names)
    assert set(places) == set(names.values())
    theirs.to(next(ours.parameters()).dtype)
    with torch.no_grad():
        for name, place in names.items():
            places[place].copy_(weights[name])
    return theirs
