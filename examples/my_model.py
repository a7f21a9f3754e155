"""A whole model: from token ids (B, L) to logits (B, L, V), or to hidden states (B, L, D).

recollect check examples/my_model.py:build
recollect train mqar --model examples/my_model.py:build --lr 1e-3 --n-layers 2
recollect window mqar mamba examples/my_model.py:build --tolerance 0.3
"""

from torch import Tensor, nn


class Recurrent(nn.Module):
    """Embedding, torch's GRUs on top of each other, logits."""

    def __init__(self, vocab_size: int, d_model: int, n_layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.layers = nn.GRU(d_model, d_model, n_layers, batch_first=True)
        self.head = nn.Linear(d_model, vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        y, _ = self.layers(self.embedding(tokens))
        return self.head(y)


def build(vocab_size: int, d_model: int, n_layers: int, width: int = 1) -> nn.Module:
    """Ask for what is needed by these names; anything else is an option (`--set model.mixer.width=2`)."""
    return Recurrent(vocab_size, width * d_model, n_layers)
