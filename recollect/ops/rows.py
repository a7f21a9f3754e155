"""Some rows of every sequence of a batch."""

import torch
from torch import Tensor


def take_rows(x: Tensor, at: Tensor) -> Tensor:
    """The rows `at` (B, Q) of x (B, L, ...): as rows of one long list, whose gradient is summed row by row."""
    n_batch, length = x.shape[:2]
    starts = torch.arange(0, n_batch * length, length, device=at.device)
    y: Tensor = x.flatten(0, 1).index_select(0, (at + starts.unsqueeze(-1)).flatten()).unflatten(0, at.shape)
    return y
