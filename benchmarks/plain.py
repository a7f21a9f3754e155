"""The ordinary way to write the training step: the frozen baseline of all speed work. Do not make it faster.

Logits at all positions, scaled_dot_product_attention, AdamW with its defaults, the default allocator.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class PlainBlock(nn.Module):
    """Pre-norm attention and MLP."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out_proj = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm1(x)).unsqueeze(1).chunk(3, dim=-1)
        x = x + self.out_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(1))
        y: Tensor = x + self.mlp(self.norm2(x))
        return y


class PlainModel(nn.Module):
    """Embedding with learned positions, blocks, norm, tied head."""

    def __init__(self, vocab_size: int, length: int, d_model: int, n_layers: int) -> None:
        super().__init__()
        self.embed, self.position = nn.Embedding(vocab_size, d_model), nn.Embedding(length, d_model)
        self.blocks = nn.Sequential(*(PlainBlock(d_model) for _ in range(n_layers)))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens) + self.position.weight[: tokens.shape[1]]
        y: Tensor = self.norm(self.blocks(x)) @ self.embed.weight.T
        return y


def plain_step(model: PlainModel, optimiser: torch.optim.Optimizer, tokens: Tensor, labels: Tensor) -> float:
    """One step; labels (B, L) are -100 where nothing is asked."""
    loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten(), ignore_index=-100)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()
