"""Heads of equal width side by side, each in whole lanes, for compiled kernels."""

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.lanes import WIDTH


def fill_heads(x: Tensor, n_heads: int) -> Tensor:
    """x (..., D) with zeros after each head up to a multiple of WIDTH."""
    missing = -(x.shape[-1] // n_heads) % WIDTH
    return F.pad(x.unflatten(-1, (n_heads, -1)), (0, missing)).flatten(-2) if missing else x


def empty_heads(x: Tensor, n_heads: int, width: int) -> Tensor:
    """The other way: the first D = `width` channels that are no filling."""
    return x if x.shape[-1] == width else x.unflatten(-1, (n_heads, -1))[..., : width // n_heads].flatten(-2)


def are_channels(x: Tensor, n_heads: int) -> Tensor:
    """1 where a channel of x (..., D) is, 0 where filling is."""
    return fill_heads(torch.ones(x.shape[-1], dtype=x.dtype), n_heads)
