"""softmax over the tokens that may be seen."""

import torch
from torch import Tensor


def softmax_torch(scores: Tensor, hidden: Tensor) -> Tensor:
    """Scores (..., Q, L) to weights that are 0 where `hidden`, which is broadcast against them."""
    return torch.where(hidden, -torch.inf, scores).softmax(dim=-1)
