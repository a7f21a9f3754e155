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
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from recollect.ops.compiled import FUSED, exp
from recollect.ops.delta import Solve, solve_compiled, solve_plain
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


Met: TypeAlias = tuple[list[Tensor], list[Tensor], Tensor, Tensor]
Meet: TypeAlias = Callable[[list[Tensor], list[Tensor], Tensor], Met]
"""From rows, columns and g to both where they meet, `start` and `end`."""


def _in_chunks(meet: Meet, solve: Solve) -> Callable[..., Tensor]:
    """The same in chunks of matrix products, with these pieces: mild decays, and the triangular system."""

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
            faded = _fade(_given(q_i, a_i), _given(k_i, b_i), g_i, meet)
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
    faded = _fade(_given(q, a), _given(k, b), g, meet_plain)
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


def _fade(R: list[Tensor], C: list[Tensor], g: Tensor, meet: Meet) -> Faded:
    """They meet half of the way, where the columns grow as much as the rows fade, if that is a number; else nothing
    grows: the rows read at the first token, the columns have been written at the last."""
    if _mild(g):
        rows, columns, start, end = meet(R, C, g)
        return Faded(rows, columns, [[(r @ m.mT).tril_() for m in columns] for r in rows], start, end, end)
    s = _since_first(g)
    rows, columns = [m * s.exp() for m in R], [m * _to_last(g).exp() for m in C]
    scores, last = [[_score(r, m, g) for m in C] for r in R], s[:, :, -1]
    return Faded(rows, columns, scores, g[:, :, 0].exp(), torch.ones_like(last), last.exp())


def meet_plain(R: list[Tensor], C: list[Tensor], g: Tensor) -> Met:
    """Half of the way; any place would do, so that no gradient comes from it, nor from the tokens behind."""
    s = _since_first(g)
    last = s[:, :, -1]
    half = last.detach() / 2
    down, up = (s - half.unsqueeze(2)).exp(), (half.unsqueeze(2) - s).exp()
    return [m * down for m in R], [m * up for m in C], (g[:, :, 0] + half).exp(), (last - half).exp()


def meet_compiled(R: list[Tensor], C: list[Tensor], g: Tensor) -> Met:
    """The same on a CPU in one pass each way, compiled."""
    *made, start, end = _Meet.apply(len(R), g, *R, *C)
    return made[: len(R)], made[len(R) :], start, end


class _Meet(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, n_rows: int, g: Tensor, *given: Tensor) -> tuple[Tensor, ...]:
        down, up = g.new_empty(g.shape), g.new_empty(g.shape)
        start, end = g.new_empty(*g.shape[:2], g.shape[3]), g.new_empty(*g.shape[:2], g.shape[3])
        _meet(*_arrays(g, down, up, start, end))
        made = [m * (down if n < n_rows else up) for n, m in enumerate(given)]
        ctx.n_rows = n_rows
        ctx.save_for_backward(down, up, start, end, *made)
        return *made, start, end

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        down, up, start, end, *made = ctx.saved_tensors
        total, given = torch.zeros_like(down), []
        for n, (grad, m) in enumerate(zip(grads, made, strict=False)):
            is_row = n < ctx.n_rows
            given.append(torch.empty_like(down))
            _fade_back(1.0 if is_row else -1.0, *_arrays(grad, m, down if is_row else up, given[-1], total))
        _meet_back(*_arrays(grads[-2], grads[-1], start, end, total))
        return None, total, *given


def _arrays(*given: Tensor) -> list[Any]:
    """Arrays with batch and heads as one."""
    return [m.contiguous().flatten(0, 1).numpy() for m in given]


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _meet(g: Any, down: Any, up: Any, start: Any, end: Any) -> None:
    n_batch, length, width = g.shape
    half = np.empty(width, g.dtype)
    for b in range(n_batch):
        half[:] = 0
        for i in range(1, length):
            for c in range(width):
                half[c] += g[b, i, c]
        for c in range(width):
            half[c] *= np.float32(0.5)
            start[b, c] = exp(g[b, 0, c] + half[c])
            end[b, c] = exp(half[c])
            half[c] = -half[c]
        for i in range(length):
            for c in range(width):
                if i > 0:
                    half[c] += g[b, i, c]
                down[b, i, c] = exp(half[c])
                up[b, i, c] = exp(-half[c])


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _fade_back(sign: float, grad: Any, made: Any, factor: Any, d_given: Any, total: Any) -> None:
    n_batch, length, width = grad.shape
    for b in range(n_batch):
        for i in range(length):
            for c in range(width):
                d_given[b, i, c] = grad[b, i, c] * factor[b, i, c]
                total[b, i, c] += np.float32(sign) * grad[b, i, c] * made[b, i, c]


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _meet_back(d_start: Any, d_end: Any, start: Any, end: Any, total: Any) -> None:
    """From the gradients of s in `total` to those of g."""
    n_batch, length, width = total.shape
    for b in range(n_batch):
        for c in range(width):
            total[b, length - 1, c] += d_end[b, c] * end[b, c]
        for i in range(length - 2, 0, -1):
            for c in range(width):
                total[b, i, c] += total[b, i + 1, c]
        for c in range(width):
            total[b, 0, c] = d_start[b, c] * start[b, c]


def _score(r: Tensor, m: Tensor, g: Tensor) -> Tensor:
    """A (B, H, c, c) of strong decays, by halves: across the middle a decay up to it and one from there on."""
    if _mild(g):
        (r,), (m,), *_ = meet_plain([r], [m], g)
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


dplr_torch, dplr_numba = _in_chunks(meet_plain, solve_plain), _in_chunks(meet_compiled, solve_compiled)
