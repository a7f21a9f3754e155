"""A matrix state whose transition is diagonal plus rank one: every row of it fades at a speed of its own.

    S'_t = e^{g_t} ⊙ S_{t-1}   (K, P),      S_t = S'_t + k_t v_tᵀ + b_t (S'_tᵀ a_t)ᵀ,      o_t = S_tᵀ q_t,   g <= 0

Without a nothing is corrected (GLA); a without b means b = -k, S_t = S'_t + k_t (v_t - S'_tᵀ a_t)ᵀ (the delta rule).
q, k, a, b and g are (B, H, L, K), v (B, H, L, P). Within a chunk all is products of matrices with the decayed scores

    A_ij = Σ_c r_ic e^{s_ic - s_jc} m_jc   for j <= i,   s_ic = g_2c + ... + g_ic,   rows r = q, a,   columns m = k, b

and what a reads solves a unit lower triangular system. All forms return o (B, H, L, P), or its rows `at` (B, H, Q, P);
the loop has no chunks.
"""

from collections.abc import Callable
from functools import reduce
from itertools import repeat
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.delta import Solve, solve_compiled, solve_plain
from recollect.ops.dplr_mild import dplr_by_hand
from recollect.ops.precision import in_full
from recollect.ops.ssd import cut, join, take

PAIRS = 16
"""Tokens of which every pair gets a decay of its own, where nobody may ask how strong they are."""

STRONGEST = 60.0
"""The largest decay, in powers of e, whose inverse is multiplied with: single precision holds 88, what is multiplied
needs the rest. KDA's first decays stay below twice of it in a chunk of 64."""


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
    """The same in chunks of matrix products; they solve the triangular system."""

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
            faded = _fade(_given(q_i, a_i), _given(k_i, b_i), g_i)
            start = None if state is None else faded.start.unsqueeze(-1) * state
            values = _values(faded, v_i, start, solve)
            rows.append(_weighted(faded.scores[0], values, None if start is None else faded.rows[0] @ start))
            if len(rows) * chunk < k.shape[2]:
                state = faded.end.unsqueeze(-1) * _weighted([m.mT for m in faded.columns], values, None)
                state = state if start is None else torch.addcmul(state, faded.rest.unsqueeze(-1), start)
        return take(join(rows), at)

    return dplr


@in_full
def dplr_matrix(q: Tensor, k: Tensor, g: Tensor, a: Tensor | None, b: Tensor | None) -> Tensor:
    """The matrix (B, H, L, L) that takes v to o."""
    faded = _fade(_given(q, a), _given(k, b), g)
    v = torch.eye(q.shape[2], dtype=q.dtype, device=q.device).expand(*q.shape[:2], -1, -1)
    return _weighted(faded.scores[0], _values(faded, v, None, solve_plain), None).tril()


class Faded(NamedTuple):
    """The rows and columns of a chunk, decayed to where they meet, and their scores A; (B, H, c, ...) each.

    `start` takes the state before the chunk to where the rows read it, `end` takes what the columns have written to the
    chunk's end and `rest` that state; (B, H, K) each.
    """

    rows: list[Tensor]
    columns: list[Tensor]
    scores: list[list[Tensor]]
    start: Tensor
    end: Tensor
    rest: Tensor


def _fade(R: list[Tensor], C: list[Tensor], g: Tensor) -> Faded:
    """They meet half of the way, where the columns grow as much as the rows fade, if that is a number; else nothing
    grows: the rows read at the first token, the columns have been written at the last."""
    if _mild(g):
        rows, columns, start, end = _meet(R, C, g)
        return Faded(rows, columns, [[(r @ m.mT).tril_() for m in columns] for r in rows], start, end, end)
    s = _since_first(g)
    rows, columns = [m * s.exp() for m in R], [m * _to_last(g).exp() for m in C]
    scores, last = [[_score(r, m, g) for m in C] for r in R], s[:, :, -1]
    return Faded(rows, columns, scores, g[:, :, 0].exp(), torch.ones_like(last), last.exp())


def _meet(R: list[Tensor], C: list[Tensor], g: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
    """Half of the way; any place would do, so that no gradient comes from it, nor from the tokens behind."""
    s = _since_first(g)
    last = s[:, :, -1]
    half = last.detach() / 2
    down, up = (s - half.unsqueeze(2)).exp(), (half.unsqueeze(2) - s).exp()
    return [m * down for m in R], [m * up for m in C], (g[:, :, 0] + half).exp(), (last - half).exp()


def _score(r: Tensor, m: Tensor, g: Tensor) -> Tensor:
    """A (B, H, c, c) of strong decays, by halves: across the middle a decay up to it and one from there on."""
    if _mild(g):
        (r,), (m,), *_ = _meet([r], [m], g)
        return (r @ m.mT).tril_()
    if not _may_ask(g) and g.shape[2] <= PAIRS:
        s = _since_first(g)
        decay = (s.unsqueeze(3) - s.unsqueeze(2)).clamp(max=0).exp()  # (B, H, i, j, K)
        return (r.unsqueeze(3) * decay * m.unsqueeze(2)).sum(-1).tril()
    half = g.shape[2] // 2
    (r0, m0, g0), (r1, m1, g1) = zip(*(x.split((half, g.shape[2] - half), dim=2) for x in (r, m, g)), strict=True)
    across = (r1 * g1.cumsum(2).exp()) @ (m0 * _to_last(g0).exp()).mT
    late = torch.cat((across, _score(r1, m1, g1)), dim=-1)
    return torch.cat((F.pad(_score(r0, m0, g0), (0, g.shape[2] - half)), late), dim=2)


def _mild(g: Tensor) -> bool:
    """Whether the inverse of half of the decay is a number, with room for more; presumed not, where nobody may ask."""
    return g.shape[2] == 1 or (_may_ask(g) and bool(g[:, :, 1:].sum(2).amin() > -2 * STRONGEST))


def _may_ask(g: Tensor) -> bool:
    """Whether numbers may be looked at; another device would have to stop for it."""
    return g.is_cpu


def _since_first(g: Tensor) -> Tensor:
    """What the tokens after the first one, up to each, decay."""
    return F.pad(g[:, :, 1:], (0, 0, 1, 0)).cumsum(2)


def _to_last(g: Tensor) -> Tensor:
    """What the tokens after each decay."""
    return F.pad(g[:, :, 1:], (0, 0, 0, 1)).flip(2).cumsum(2).flip(2)


def _values(faded: Faded, v: Tensor, start: Tensor | None, solve: Solve) -> list[Tensor]:
    """What is written with each column, (B, H, c, P): v, or the errors on it, or v and what a reads."""
    if len(faded.rows) == 1:
        return [v]
    before = None if start is None else faded.rows[1] @ start
    by_k, *by_b = faded.scores[1]
    if not by_b:
        return [solve(by_k, v if before is None else v - before)]
    return [v, solve(-by_b[0], _weighted([by_k.tril(-1)], [v], before))]


def _weighted(scores: list[Tensor], values: list[Tensor], before: Tensor | None) -> Tensor:
    """All values by their weights, and what the state before a chunk adds."""
    parts = [A @ value for A, value in zip(scores, values, strict=True)]
    return reduce(torch.add, parts if before is None else [*parts, before])


def _given(one: Tensor, other: Tensor | None) -> list[Tensor]:
    return [one] if other is None else [one, other]


dplr_torch, _dplr_strong = _in_chunks(solve_plain), _in_chunks(solve_compiled)


@in_full
def dplr_numba(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, a: Tensor | None, b: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The same on a CPU, compiled; by hand where all chunks are mild."""
    if all(_mild(m) for m in cut(g, chunk)):
        return take(dplr_by_hand(chunk, v, g, _given(q, a), _given(k, b)), at)
    return _dplr_strong(q, k, v, g, a, b, chunk, at)
