"""What is trained: tokens in, out what is judged at the asked positions."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Learner(nn.Module, ABC):
    """A stack of mixers (`training.model`), or a whole model that a user brings (`training.whole`)."""

    @property
    @abstractmethod
    def head_weight(self) -> Tensor | None:
        """The head's matrix (V, D); None where the features are logits already."""

    @abstractmethod
    def features(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """What the head sees, at all positions (B, L, D) or at those asked (B, Q, D)."""

    @abstractmethod
    def state_size(self) -> int | None:
        """Numbers that must be remembered at the end of a row; None where nobody knows."""

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Logits (B, L or Q, V)."""
        features = self.features(tokens, at)
        return features if self.head_weight is None else features @ self.head_weight.T

    @property
    def device(self) -> torch.device:
        """Where its weights lie."""
        return next(self.parameters()).device

    def n_params(self) -> int:
        """Trainable numbers, each counted once."""
        return sum(p.numel() for p in self.parameters())
