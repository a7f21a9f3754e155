"""Rotary positions: pair (i, i + P/2) of a vector at position t is turned by the angle t · 10000^(-2i/P)."""

import torch
from torch import Tensor


def rotate(x: Tensor, positions: Tensor | None = None) -> Tensor:
    """Turn x (..., L, P), P even, to its positions (0..L-1, or given, broadcast against x[..., 0])."""
    half = x.shape[-1] // 2
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    exponents = torch.arange(half, device=x.device, dtype=torch.float64) / half
    angle = positions.to(torch.float64).unsqueeze(-1) * 10000.0**-exponents  # (..., L, P/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
