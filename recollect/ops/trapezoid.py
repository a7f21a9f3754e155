"""State-space duality with a trapezoidal step: a token is written when it comes, and once more with the next one.

    h_t = e^{g_t} (h_{t-1} + (1 - λ_t) Δ_t B_{t-1} x_{t-1}ᵀ) + λ_t Δ_t B_t x_tᵀ   (N, P),      y_t = h_tᵀ C_t + D x_t

Both writings fade alike: this is `ops.ssd` where a token sees those before it with the steps λ_t Δ_t + (1 - λ_{t+1})
Δ_{t+1}, and itself, written once, with λ_t Δ_t. x is (B, H, L, P), Δ, λ and g (B, H, L), B and C (B, H, L, N), D (H,),
g <= 0. All forms return y (B, H, L, P), or its rows `at` (B, H, Q, P); the loop has no chunks.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.precision import in_full
from recollect.ops.ssd import Weigh, by_chunks, sums, take, weigh_compiled, weigh_plain


@in_full
def trapezoid_loop(
    x: Tensor, dt: Tensor, lam: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The judge: one token at a time."""
    h = x.new_zeros(*x.shape[:2], B.shape[-1], x.shape[-1])  # (B, H, N, P)
    before, rows = torch.zeros_like(h), []
    for t in range(x.shape[2]):
        decay, step, share = g[:, :, t, None, None].exp(), dt[:, :, t, None, None], lam[:, :, t, None, None]
        written = B[:, :, t, :, None] * x[:, :, t, None, :]
        h = decay * (h + (1 - share) * step * before) + share * step * written
        before = written
        rows.append((h * C[:, :, t, :, None]).sum(-2) + D.unsqueeze(-1) * x[:, :, t])
    return take(torch.stack(rows, dim=2), at)


def _in_chunks(weigh: Weigh) -> Callable[..., Tensor]:
    """The same in chunks of matrix products, with these weights."""

    @in_full
    def trapezoid(
        x: Tensor,
        dt: Tensor,
        lam: Tensor,
        g: Tensor,
        B: Tensor,
        C: Tensor,
        D: Tensor,
        chunk: int,
        at: Tensor | None = None,
    ) -> Tensor:
        return by_chunks(x, _steps(dt, lam), lam * dt, g, B, C, D, chunk, at, weigh)

    return trapezoid


@in_full
def trapezoid_matrix(dt: Tensor, lam: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The matrix (B, H, L, L) that takes x to y."""
    return weigh_plain(C @ B.transpose(-1, -2), sums(g), _steps(dt, lam), D, lam * dt)


def _steps(dt: Tensor, lam: Tensor) -> Tensor:
    """Both writings of a token together, as the tokens after it see them."""
    return lam * dt + F.pad(((1 - lam) * dt)[:, :, 1:], (0, 1))


trapezoid_torch, trapezoid_numba = _in_chunks(weigh_plain), _in_chunks(weigh_compiled)
