"""State-space duality with a trapezoidal step: a token is written when it comes, and once more with the next one.

    h_t = e^{g_t} (h_{t-1} + (1 - λ_t) Δ_t B_{t-1} x_{t-1}ᵀ) + λ_t Δ_t B_t x_tᵀ   (N, P),      y_t = h_tᵀ C_t + D x_t

Both writings fade alike. What a token sees of those before it is `ops.ssd` of everything one token late, with the step
(λ_{t-1} Δ_{t-1} + (1 - λ_t) Δ_t) e^{g_t}; of itself it sees the first writing only. x is (B, H, L, P), Δ, λ and g
(B, H, L), B and C (B, H, L, N), D (H,), g <= 0. All forms return y (B, H, L, P), or its rows `at` (B, H, Q, P); the
loop has no chunks.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.precision import in_full
from recollect.ops.ssd import ssd_matrix, ssd_numba, ssd_torch, take


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


def by_ssd(ssd: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same by a form of SSD."""

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
        own = lam * dt * (B * C).sum(-1) + D.unsqueeze(-1)  # (B, H, L)
        y = ssd(_late(x), _late_steps(dt, lam, g), g, _late(B), C, None, chunk, at)
        return torch.addcmul(y, take(own.unsqueeze(-1), at), take(x, at))

    return trapezoid


@in_full
def trapezoid_matrix(dt: Tensor, lam: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The matrix (B, H, L, L) that takes x to y."""
    others = F.pad(ssd_matrix(_late_steps(dt, lam, g), g, _late(B), C)[..., 1:], (0, 1))
    return others + torch.diag_embed(lam * dt * (B * C).sum(-1) + D.unsqueeze(-1))


def _late(m: Tensor) -> Tensor:
    """m one token later, 0 at the first."""
    return torch.cat((torch.zeros_like(m[:, :, :1]), m[:, :, :-1]), dim=2)


def _late_steps(dt: Tensor, lam: Tensor, g: Tensor) -> Tensor:
    """The step with which the token before is seen from this one on."""
    return (_late(lam * dt) + (1 - lam) * dt) * g.exp()


trapezoid_torch, trapezoid_numba = by_ssd(ssd_torch), by_ssd(ssd_numba)
