"""Other people's Mamba layers, carrying the weights of ours."""

import torch
from mambapy.mamba import MambaBlock
from mambapy.mamba import MambaConfig as MambapyConfig
from torch import nn
from transformers import MambaConfig
from transformers.models.mamba.modeling_mamba import MambaMixer

from recollect.mixers.mamba import Mamba


def transformers_mamba(mixer: Mamba) -> nn.Module:
    """transformers' layer, whose scan is a loop over time on a CPU."""
    d_inner, d_model = mixer.in_proj.weight.shape[0] // 2, mixer.in_proj.weight.shape[1]
    assert mixer.options.dt_rank is not None
    config = MambaConfig(
        hidden_size=d_model,
        state_size=mixer.options.d_state,
        expand=d_inner // d_model,
        conv_kernel=mixer.options.d_conv,
        time_step_rank=mixer.options.dt_rank,
        num_hidden_layers=1,
    )
    return carry(mixer, MambaMixer(config, layer_idx=0))


def mambapy_mamba(mixer: Mamba) -> nn.Module:
    """mambapy's layer, with its parallel scan."""
    config = MambapyConfig(
        d_model=mixer.in_proj.weight.shape[1],
        n_layers=1,
        dt_rank=mixer.options.dt_rank,
        d_state=mixer.options.d_state,
        expand_factor=mixer.options.expand,
        d_conv=mixer.options.d_conv,
    )
    return carry(mixer, MambaBlock(config))


def theirs(name: str) -> str:
    """Their name of our parameter: the convolution alone is called otherwise."""
    return name.replace("conv.", "conv1d.")


@torch.no_grad()
def carry(mixer: Mamba, oracle: nn.Module) -> nn.Module:
    """The oracle with a copy of every weight of ours, and no other."""
    ours = {theirs(name): p for name, p in mixer.named_parameters()}
    parameters = dict(oracle.named_parameters())
    assert ours.keys() == parameters.keys()
    for name, p in parameters.items():
        p.copy_(ours[name].view_as(p))
    return oracle.to(mixer.D.dtype)
