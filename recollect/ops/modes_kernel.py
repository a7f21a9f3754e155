"""The kernel of complex modes: h_l = 2 Re Σ_n w_n a_n^l, l = 0..L-1, from weights w and modes a, both (G, N)."""

import torch
from torch import Tensor


def modes_kernel_loop(weights: Tensor, modes: Tensor, length: int) -> Tensor:
    """The judge: h (G, L), one tap at a time."""
    taps = []
    for _ in range(length):
        taps.append(2 * weights.sum(dim=-1).real)
        weights = weights * modes
    return torch.stack(taps, dim=-1)


def modes_kernel_torch(weights: Tensor, modes: Tensor, length: int) -> Tensor:
    """The same with l = i·S + j: the product of w a^(iS) and a^j, so that only L/S + S powers are formed."""
    stride = 1 << (length.bit_length() // 2)
    inner, leap = _powers(modes, stride)
    outer, _ = _powers(leap, -(-length // stride))
    taps = (weights.unsqueeze(-1) * outer).mT @ inner  # (G, L/S, S)
    return 2 * taps.real.flatten(1)[:, :length]


def _powers(modes: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """1, a, ..., a^(count-1) as (G, N, count) by doubling, and the last square: a^count if that is a power of two."""
    powers, square = torch.ones_like(modes).unsqueeze(-1), modes
    while powers.shape[-1] < count:
        powers = torch.cat((powers, powers * square.unsqueeze(-1)), dim=-1)
        square = square * square
    return powers[..., :count], square
