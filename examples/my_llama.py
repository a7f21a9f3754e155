"""A whole model of another library: from token ids to logits, a Llama of transformers (`pip install transformers`).

recollect check examples/my_llama.py:build
recollect train mqar --model examples/my_llama.py:build --lr 1e-3 --n-layers 2
"""

from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM


def build(vocab_size: int, length: int, d_model: int, n_layers: int, n_heads: int = 4) -> nn.Module:
    """Ask for what is needed by these names; anything else is an option (`--set model.mixer.n_heads=2`)."""
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocab_size,
            hidden_size=d_model,
            intermediate_size=2 * d_model,
            num_hidden_layers=n_layers,
            num_attention_heads=n_heads,
            max_position_embeddings=length,
            use_cache=False,
        )
    )
