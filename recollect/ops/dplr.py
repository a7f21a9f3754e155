"""A matrix state whose transition is diagonal plus rank one: every row of it fades at a speed of its own.

    S'_t = e^{g_t} ⊙ S_{t-1}   (K, P),      S_t = S'_t + k_t v_tᵀ + b_t (S'_tᵀ a_t)ᵀ,      o_t = S_tᵀ q_t,   g <= 0

Without a nothing is corrected (GLA); a without b means b = -k, S_t = S'_t + k_t (v_t - S'_tᵀ a_t)ᵀ (the delta rule).
q, k, a, b and g are (B, H, L, K), v (B, H, L, P). Within a chunk all is products of matrices with the decayed scores

    A_ij = Σ_c r_ic e^{s_ic - s_jc} m_jc   for j <= i,   s_ic = g_2c + ... + g_ic,   rows r = q, a,   columns m = k, b

and what a reads solves a unit lower triangular system. All forms return o (B, H, L, P), or its rows `at` (B, H, Q, P);
the loop has no chunks.
"""

from collections.abc import Callable
from itertools import repeat

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.delta import Solve, solve_compiled, solve_plain
from recollect.ops.precision import in_full
from recollect.ops.ssd import cut, join, take

STRONGEST = 50.0
"""The largest decay, in powers of e, whose inverse is multiplied with: half of what single precision can hold, as much
again being left for what is multiplied."""


@in_full
def dplr_loop(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, a: Tensor | None, b: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The judge: one token at a time."""
    S = v.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])  # (B, H, K, P)
    rows = []
    for t in range(k.shape[2]):
        S, value = g[:, :, t, :, None].exp() * S, v[:, :, t, None]
        seen = None if a is None else (S * a[:, :, t, :, None]).sum(-2, keepdim=True)  # (B, H, 1, P)
        if seen is not None and b is None:
            value = value - seen
        elif seen is not None and b is not None:
            S = S + b[:, :, t, :, None] * seen
        S = S + k[:, :, t, :, None] * value
        rows.append((S * q[:, :, t, :, None]).sum(-2))
    return take(torch.stack(rows, dim=2), at)


def _in_chunks(solve: Solve) -> Callable[..., Tensor]:
    """The same in chunks of matrix products, with this way to solve the triangular system."""

    @in_full
    def dplr(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        g: Tensor,
        a: Tensor | None,
        b: Tensor | None,
        chunk: int,
        at: Tensor | None = None,
    ) -> Tensor:
        state: Tensor | None = None
        rows: list[Tensor] = []
        pieces = (repeat(None) if m is None else cut(m, chunk) for m in (a, b))
        for q_i, k_i, v_i, g_i, a_i, b_i in zip(*(cut(m, chunk) for m in (q, k, v, g)), *pieces, strict=False):
            R, C, s = _both(q_i, a_i), _both(k_i, b_i), _since_first(g_i)
            before = None if state is None else _recall(R, s, g_i[:, :, 0], state)
            A = _scores(R, C, g_i, s)
            values = _values(A, v_i, before, solve)
            rows.append(_read(A, values, before))
            if len(rows) * chunk < k.shape[2]:
                state = _write(C, values, g_i, state)
        return take(join(rows), at)

    return dplr


@in_full
def dplr_matrix(q: Tensor, k: Tensor, g: Tensor, a: Tensor | None, b: Tensor | None) -> Tensor:
    """The matrix (B, H, L, L) that takes v to o."""
    A = _scores(_both(q, a), _both(k, b), g, _since_first(g))
    v = torch.eye(q.shape[2], dtype=A.dtype, device=A.device).expand(*q.shape[:2], -1, -1)
    return _read(A, _values(A, v, None, solve_plain), None).tril()


def _both(one: Tensor, other: Tensor | None) -> Tensor:
    """One or two (B, H, c, K) as (B, H, n, c, K)."""
    return one.unsqueeze(2) if other is None else torch.stack((one, other), dim=2)


def _since_first(g: Tensor) -> Tensor:
    """s of the tokens (..., c, K)."""
    return F.pad(g[..., 1:, :], (0, 0, 1, 0)).cumsum(-2)


def _recall(R: Tensor, s: Tensor, first: Tensor, state: Tensor) -> Tensor:
    """What the rows read of the state before a chunk, (B, H, r, c, P)."""
    faded = (R * s.exp().unsqueeze(2)).flatten(2, 3)
    y: Tensor = (faded @ (first.exp().unsqueeze(-1) * state)).unflatten(2, R.shape[2:4])
    return y


def _values(A: Tensor, v: Tensor, before: Tensor | None, solve: Solve) -> Tensor:
    """What is written with each column, (B, H, n, c, P): v, or the errors on it, or v and what a reads."""
    if A.shape[2] == 1:
        return v.unsqueeze(2)
    if A.shape[4] == 1:
        return solve(A[:, :, 1, :, 0], v if before is None else v - before[:, :, 1]).unsqueeze(2)
    seen = A[:, :, 1, :, 0].tril(-1) @ v
    seen = solve(-A[:, :, 1, :, 1], seen if before is None else seen + before[:, :, 1])
    return torch.stack((v, seen), dim=2)


def _read(A: Tensor, values: Tensor, before: Tensor | None) -> Tensor:
    """What the queries read, (B, H, c, P)."""
    y = A[:, :, 0].flatten(-2) @ values.flatten(2, 3)
    return y if before is None else y + before[:, :, 0]


def _write(C: Tensor, values: Tensor, g: Tensor, state: Tensor | None) -> Tensor:
    """The state after a chunk: everything that was written, and the state before it, faded to its end."""
    added = _to_end(C, g).flatten(2, 3).mT @ values.flatten(2, 3)
    return added if state is None else torch.addcmul(added, g.sum(2).exp().unsqueeze(-1), state)


def _to_end(C: Tensor, g: Tensor) -> Tensor:
    """The columns faded by all tokens that follow them."""
    return C * F.pad(g[:, :, 1:], (0, 0, 0, 1)).flip(2).cumsum(2).flip(2).exp().unsqueeze(2)


def _scores(R: Tensor, C: Tensor, g: Tensor, s: Tensor) -> Tensor:
    """A (B, H, r, c, n, c) of R (B, H, r, c, K) and C (B, H, n, c, K).

    One product of the rows' decays and the columns' inverse ones, both counted from half of the way, if these are
    numbers; else in two halves, and across the middle a decay up to it and one from there on, none of them inverse.
    """
    if s[:, :, -1].amin() > -2 * STRONGEST:
        s = s - s[:, :, -1:] / 2
        A = _outer(R * s.exp().unsqueeze(2), C * (-s).exp().unsqueeze(2))
        i = torch.arange(g.shape[2], device=g.device)
        return A.masked_fill(i[:, None, None] < i, 0)
    half = g.shape[2] // 2
    (R0, C0, g0), (R1, C1, g1) = zip(*(m.split((half, g.shape[2] - half), dim=-2) for m in (R, C, g)), strict=True)
    across = _outer(R1 * g1.cumsum(2).exp().unsqueeze(2), _to_end(C0, g0))
    early, late = _scores(R0, C0, g0, _since_first(g0)), _scores(R1, C1, g1, _since_first(g1))
    return torch.cat((F.pad(early, (0, g.shape[2] - half)), torch.cat((across, late), dim=-1)), dim=3)


def _outer(R: Tensor, C: Tensor) -> Tensor:
    """All rows with all columns, (B, H, r, i, n, j)."""
    A: Tensor = (R.flatten(2, 3) @ C.flatten(2, 3).mT).unflatten(-1, C.shape[2:4]).unflatten(2, R.shape[2:4])
    return A


dplr_torch, dplr_numba = _in_chunks(solve_plain), _in_chunks(solve_compiled)
