"""A layer of the transformers library as a mixer: Mamba, as that library has it.

recollect check examples/my_layer.py:Mamba
recollect train mqar examples/my_layer.py:Mamba --lr 3e-3 --n-layers 1 --like mamba
"""

from torch import Tensor, nn
from transformers import MambaConfig
from transformers.models.mamba.modeling_mamba import MambaMixer


class Mamba(nn.Module):
    """Needs the layer's number, which it asks for by its name."""

    def __init__(self, d_model: int, layer: int = 0) -> None:
        super().__init__()
        config = MambaConfig(vocab_size=2, hidden_size=d_model, state_size=16, num_hidden_layers=1)
        self.inner = MambaMixer(config, layer_idx=layer)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)
