"""Rotary positions: pair (i, i + P/2) of a vector at position t is turned by the angle t · 10000^(-2i/P)."""

import torch
from torch import Tensor


def rotate_pairs(x: Tensor, turn: Tensor) -> Tensor:
    """The pairs (2i, 2i + 1) of x (..., N) turned by e^{i angle} (..., M), M <= N/2; what is left over stays."""
    turned, rest = x.split((2 * turn.shape[-1], x.shape[-1] - 2 * turn.shape[-1]), dim=-1)
    made = torch.view_as_real(torch.view_as_complex(turned.unflatten(-1, (-1, 2))) * turn).flatten(-2)
    return torch.cat((made, rest), dim=-1) if rest.shape[-1] else made


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
