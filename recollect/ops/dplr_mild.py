"""`ops.dplr` on a CPU where the decay of every chunk is mild: few products of large matrices, each way by hand.

Of n = B H states and a chunk of c tokens, decayed to where they meet: rows R = [q; a] and columns M = [k; b] (2 c, K),
values W = [v; u] (2 c, P), and S' the state before the chunk where the rows read it. With A = R Mᵀ, at and below the
diagonal for q, below it for a:

    u = A_a W + R_a S',      o = A_q W + R_q S',      the state after it = e ⊙ (S' + Mᵀ W)

u stands on both sides: it is solved for, row after row. Without b, which is then -k, W is u = v - A_a u - R_a S'.
The way back has the same shape. Of G = [do; du], du solved for from the last row to the first, and dT = e ⊙ the
gradient of the state after it,

    dA = G Wᵀ,      dR = G S'ᵀ + dA M,      dM = W dTᵀ + dAᵀ R,      dS' = dT + Rᵀ G
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import FUSED, ONE, Array, exp
from recollect.ops.lanes import WIDTH, lanes, put


def dplr_by_hand(chunk: int, v: Tensor, g: Tensor, rows: list[Tensor], columns: list[Tensor]) -> Tensor:
    """o (B, H, L, P); in memory with time before heads, as the projections want it."""
    o: Tensor = _Dplr.apply(chunk, len(rows), v, g, *rows, *columns)
    return o


class Chunk(NamedTuple):
    """What the way back wants of a chunk: n of each."""

    rows: Tensor
    columns: Tensor
    scores: Tensor
    values: Tensor
    down: Tensor
    up: Tensor
    start: Tensor
    end: Tensor


class _Dplr(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, chunk: int, n_rows: int, v: Tensor, g: Tensor, *given: Tensor) -> Tensor:
        flat = [m.contiguous().flatten(0, 1) for m in (v, g, *given)]
        o = v.new_empty(v.shape[0], v.shape[2], v.shape[1], v.shape[3]).transpose(1, 2)
        kept: list[Tensor] = []
        state: Tensor | None = None
        for first in range(0, v.shape[2], chunk):
            last = min(first + chunk, v.shape[2])
            made, before, made_o = _chunk(first, last, n_rows, flat, state)
            o[:, :, first:last] = made_o.view(*v.shape[:2], last - first, -1)
            after = _after(made, before) if last < v.shape[2] else None
            kept += [*made, *((state, before) if state is not None and before is not None else ())]
            kept += [] if after is None else [after]
            state = None if after is None else made.end.unsqueeze(-1) * after
        ctx.save_for_backward(*flat, *kept)
        ctx.sizes = chunk, n_rows, len(given), v.shape
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_o: Tensor) -> tuple[Tensor | None, ...]:
        chunk, n_rows, n_given, shape = ctx.sizes
        saved = list(ctx.saved_tensors)
        flat = [saved.pop(0) for _ in range(2 + n_given)]
        grads = [torch.empty_like(m) for m in flat]
        d_state: Tensor | None = None
        for first in range(chunk * ((shape[2] - 1) // chunk), -1, -chunk):
            last = min(first + chunk, shape[2])
            after = saved.pop() if last < shape[2] else None
            before = saved.pop() if first else None
            state = saved.pop() if first else None
            made = Chunk(*saved[-len(Chunk._fields) :])
            del saved[-len(Chunk._fields) :]
            above = d_o[:, :, first:last].reshape(len(flat[0]), last - first, -1)
            d_state = _chunk_back(first, last, n_rows, made, state, before, after, above, d_state, grads)
        return None, None, *(m.view(*shape[:2], *m.shape[1:]) for m in grads)


def _chunk(
    first: int, last: int, n_rows: int, flat: list[Tensor], state: Tensor | None
) -> tuple[Chunk, Tensor | None, Tensor]:
    """A chunk, S' and o (n, c, P)."""
    v, g, *given = flat
    n, length, n_columns = len(v), last - first, len(given) - n_rows
    rows, columns = (g.new_empty(n, count * length, g.shape[2]) for count in (n_rows, n_columns))
    down, up = g.new_empty(n, length, g.shape[2]), g.new_empty(n, length, g.shape[2])
    start, end = g.new_empty(n, g.shape[2]), g.new_empty(n, g.shape[2])
    _meet(first, *(m.numpy() for m in (g, down, up, start, end)))
    for i, m in enumerate(given):
        whole, j, factor = (rows, i, down) if i < n_rows else (columns, i - n_rows, up)
        torch.mul(m[:, first:last], factor, out=whole[:, j * length : (j + 1) * length])
    scores = torch.bmm(rows, columns.mT)
    _keep_lower(length, scores.numpy())
    before = None if state is None else start.unsqueeze(-1) * state
    seen = None if before is None else torch.bmm(rows, before)
    values = v.new_empty(n, n_columns * length, v.shape[2])
    values[:, :length] = v[:, first:last]
    if n_columns == 2:
        by_k = scores[:, length:, :length]
        values[:, length:] = _plus(None if seen is None else seen[:, length:], by_k, v[:, first:last])
    elif n_rows == 2 and seen is not None:
        values -= seen[:, length:]
    if n_rows == 2:
        _solve(length, scores.numpy(), values.numpy())
    made = Chunk(rows, columns, scores, values, down, up, start, end)
    return made, before, _plus(None if seen is None else seen[:, :length], scores[:, :length], values)


def _after(made: Chunk, before: Tensor | None) -> Tensor:
    """The state after a chunk, but for the decay to its end."""
    return _plus(before, made.columns.mT, made.values)


def _plus(added: Tensor | None, a: Tensor, b: Tensor) -> Tensor:
    """a b, and what is added to it."""
    return torch.bmm(a, b) if added is None else torch.baddbmm(added, a, b)


def _chunk_back(
    first: int,
    last: int,
    n_rows: int,
    made: Chunk,
    state: Tensor | None,
    before: Tensor | None,
    after: Tensor | None,
    d_o: Tensor,
    d_state: Tensor | None,
    grads: list[Tensor],
) -> Tensor | None:
    """Fills the chunk's part of the gradients; gives that of the state before it."""
    length, (rows, columns, scores, values, down, up, start, end) = last - first, made
    d_v, d_g, *d_given = grads
    n_columns = len(d_given) - n_rows
    d_after = None if d_state is None else end.unsqueeze(-1) * d_state
    d_end = torch.zeros_like(end) if d_state is None or after is None else (d_state * after).sum(-1)
    d_values = torch.bmm(scores[:, :length].mT, d_o)
    if d_after is not None:
        d_values.baddbmm_(columns, d_after)
    G = d_o.new_empty(len(d_o), n_rows * length, d_o.shape[2])
    G[:, :length] = d_o
    if n_rows == 2:
        _solve_back(length, scores.numpy(), d_values.numpy())
        if n_columns == 2:
            G[:, length:] = d_values[:, length:]
            d_v[:, first:last] = torch.bmm(scores[:, length:, :length].mT, G[:, length:]).add_(d_values[:, :length])
        else:
            torch.neg(d_values, out=G[:, length:])
    if n_columns == 1:
        d_v[:, first:last] = d_values
    d_scores = torch.bmm(G, values.mT)
    _keep_lower(length, d_scores.numpy())
    d_rows, d_columns = torch.bmm(d_scores, columns), torch.bmm(d_scores.mT, rows)
    if d_after is not None:
        d_columns.baddbmm_(values, d_after.mT)
    d_before, d_start = None, torch.zeros_like(start)
    if state is not None and before is not None:
        d_rows.baddbmm_(G, before.mT)
        d_before = _plus(d_after, rows.mT, G)
        d_start = (d_before * state).sum(-1)
        d_before = start.unsqueeze(-1) * d_before
    d_g[:, first:last] = 0
    for i, m in enumerate(d_given):
        above, whole, factor, sign = (d_rows, rows, down, 1.0) if i < n_rows else (d_columns, columns, up, -1.0)
        j = i if i < n_rows else i - n_rows
        _fade_back(sign, first, j * length, *(x.numpy() for x in (above, whole, factor, m, d_g)))
    _meet_back(first, *(x.numpy() for x in (d_start, d_end, start, end, down, d_g)))
    return d_before


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _meet(first: int, g: Array, down: Array, up: Array, start: Array, end: Array) -> None:
    """What takes rows down and columns up to where they meet, half of the way."""
    n, length, width = down.shape
    half = np.empty(width, g.dtype)
    for b in range(n):
        half[:] = 0
        for i in range(1, length):
            for c in range(width):
                half[c] += g[b, first + i, c]
        for c in range(width):
            half[c] *= np.float32(0.5)
            start[b, c] = exp(g[b, first, c] + half[c])
            end[b, c] = exp(half[c])
            half[c] = -half[c]
        for i in range(length):
            for c in range(width):
                if i > 0:
                    half[c] += g[b, first + i, c]
                down[b, i, c] = exp(half[c])
                up[b, i, c] = ONE / down[b, i, c]


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _fade_back(
    sign: float, first: int, place: int, above: Array, made: Array, factor: Array, d_given: Array, d_g: Array
) -> None:
    """From the gradient of what has faded to that of what was given; adds that of s to d_g."""
    n, length, width = factor.shape
    for b in range(n):
        for i in range(length):
            for c in range(width):
                grad = above[b, place + i, c]
                d_given[b, first + i, c] = grad * factor[b, i, c]
                d_g[b, first + i, c] += np.float32(sign) * grad * made[b, place + i, c]


@njit(cache=True, fastmath=FUSED, error_model="numpy")
def _meet_back(first: int, d_start: Array, d_end: Array, start: Array, end: Array, down: Array, d_g: Array) -> None:
    """From the gradients of s in d_g to those of g."""
    n, length, width = down.shape
    last = first + length - 1
    for b in range(n):
        for c in range(width):
            d_g[b, last, c] += d_end[b, c] * end[b, c]
        for i in range(last - 1, first, -1):
            for c in range(width):
                d_g[b, i, c] += d_g[b, i + 1, c]
        for c in range(width):
            d_g[b, first, c] = d_start[b, c] * start[b, c]


@njit(cache=True)
def _keep_lower(length: int, scores: Array) -> None:
    """q sees its own token, a only those before it."""
    n, rows, columns = scores.shape
    for b in range(n):
        for i in range(rows):
            for j in range(0, columns, length):
                scores[b, i, j + i % length + (1 - i // length) : j + length] = 0


@njit(cache=True, error_model="numpy")
def _solve(length: int, scores: Array, values: Array) -> None:
    """The last of the values, in place of what they have without one another."""
    own, width = values.shape[1] - length, values.shape[2]
    sign = ONE if own else -ONE
    for b in range(len(scores)):
        for i in range(length):
            for p in range(0, width - width % WIDTH, WIDTH):
                made = lanes(values, (b, own + i, p))
                for j in range(i):
                    made = made + lanes(values, (b, own + j, p)) * (sign * scores[b, length + i, own + j])
                put(values, (b, own + i, p), made)
            for p in range(width - width % WIDTH, width):
                for j in range(i):
                    values[b, own + i, p] += sign * scores[b, length + i, own + j] * values[b, own + j, p]


@njit(cache=True, error_model="numpy")
def _solve_back(length: int, scores: Array, d_values: Array) -> None:
    """The same back."""
    own, width = d_values.shape[1] - length, d_values.shape[2]
    sign = ONE if own else -ONE
    for b in range(len(scores)):
        for j in range(length - 1, -1, -1):
            for p in range(0, width - width % WIDTH, WIDTH):
                made = lanes(d_values, (b, own + j, p))
                for i in range(j + 1, length):
                    made = made + lanes(d_values, (b, own + i, p)) * (sign * scores[b, length + i, own + j])
                put(d_values, (b, own + j, p), made)
            for p in range(width - width % WIDTH, width):
                for i in range(j + 1, length):
                    d_values[b, own + j, p] += sign * scores[b, length + i, own + j] * d_values[b, own + i, p]
