"""transformers' Mamba2, carrying the weights of ours."""

import torch
from torch import Tensor, nn
from transformers import Mamba2Config
from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer, mamba2_chunk_scan

from recollect.mixers.mamba2 import Mamba2


def transformers_mamba2(mixer: Mamba2, chunk: int = 64) -> nn.Module:
    """transformers' layer in its plain torch form. With several groups its norm still runs over all channels."""
    assert mixer.options.head_dim is not None
    config = Mamba2Config(
        hidden_size=mixer.in_proj.in_features,
        state_size=mixer.options.d_state,
        expand=mixer.options.expand,
        head_dim=mixer.options.head_dim,
        num_heads=mixer.n_heads,
        n_groups=mixer.options.n_groups,
        conv_kernel=mixer.options.d_conv,
        chunk_size=chunk,
        layer_norm_epsilon=1e-5,
        use_bias=False,
        use_conv_bias=True,
        num_hidden_layers=1,
    )
    oracle: nn.Module = Mamba2Mixer(config, layer_idx=0)
    ours = {theirs(name): p for name, p in mixer.named_parameters()}
    parameters = dict(oracle.named_parameters())
    assert ours.keys() == parameters.keys()
    with torch.no_grad():
        for name, p in parameters.items():
            p.copy_(ours[name].view_as(p))
    return oracle


def theirs(name: str) -> str:
    """Their name of our parameter: the convolution alone is called otherwise."""
    return name.replace("conv.", "conv1d.")


def transformers_ssd(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor, chunk: int = 64) -> Tensor:
    """transformers' scan on x (B, H, L, P), dt (B, H, L), A and D (H,), B and C (B, G, L, N)."""
    x, dt, B, C = (m.transpose(1, 2) for m in (x, dt, B, C))
    y: Tensor = mamba2_chunk_scan(x, dt, A, B, C, chunk, D=D)
    return y.transpose(1, 2)
