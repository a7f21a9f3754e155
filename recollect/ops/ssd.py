"""State-space duality: a state per head that decays by one number a step.

    h_t = e^{g_t} h_{t-1} + Δ_t B_t x_tᵀ   (N, P),      y_t = h_tᵀ C_t + D x_t,      s_t = Σ_{u<=t} g_u,   g <= 0

which is y = M x with M_ij = (C_i · B_j) e^{s_i - s_j} Δ_j for j <= i, and D added where j = i. Every decay is the
exponential of a difference that is never positive, or a product of such. x is (B, H, L, P), Δ and g (B, H, L), D (H,),
B and C (B, G, L, N): G groups of neighbouring heads share B and C. In a chunk s counts from its start; s = None means
no decay, D = None no skip, `own` the weight with which a token sees itself where that is not Δ. All forms return
y (B, H, L, P), or its rows `at` (B, H, Q, P); the loop has no chunks.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import ASSOCIATIVE, exp
from recollect.ops.precision import in_full
from recollect.ops.rows import take_rows


@in_full
def ssd_loop(
    x: Tensor, dt: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The judge: one token at a time."""
    B, C = (m.repeat_interleave(x.shape[1] // m.shape[1], dim=1) for m in (B, C))
    h = x.new_zeros(*x.shape[:2], B.shape[-1], x.shape[-1])  # (B, H, N, P)
    rows = []
    for t in range(x.shape[2]):
        decay, step = g[:, :, t, None, None].exp(), dt[:, :, t, None, None]
        h = decay * h + step * B[:, :, t, :, None] * x[:, :, t, None, :]
        y = (h * C[:, :, t, :, None]).sum(-2)
        rows.append(y if D is None else y + D.unsqueeze(-1) * x[:, :, t])
    return take(torch.stack(rows, dim=2), at)


FADED = -100.0
"""A smaller log-decay is as good as this one, as e^-100 is 0 in single precision; in a sum it drowns the others."""


def sums(g: Tensor) -> Tensor:
    """s_t = g_1 + ... + g_t of log-decays that may be extreme."""
    return g.clamp(min=FADED).cumsum(-1)


Weigh: TypeAlias = Callable[..., Tensor]
"""From the scores C_i · B_j of each group, s, Δ, D and own to M (B, H, ...): all c x c of a chunk, or its rows `at`."""


def _in_chunks(weigh: Weigh) -> Callable[..., Tensor]:
    """The same in chunks of matrix products, with these weights."""

    @in_full
    def ssd(
        x: Tensor, dt: Tensor, g: Tensor, B: Tensor, C: Tensor, D: Tensor | None, chunk: int, at: Tensor | None = None
    ) -> Tensor:
        return by_chunks(x, dt, dt, g, B, C, D, chunk, at, weigh)

    return ssd


def by_chunks(
    x: Tensor,
    dt: Tensor,
    own: Tensor,
    g: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None,
    chunk: int,
    at: Tensor | None,
    weigh: Weigh,
) -> Tensor:
    """y or its rows, where a token sees itself with the weight `own` and those before it with their Δ."""
    if at is not None and few(at, x.shape[2], chunk):
        y = weigh(take(C, at) @ B.transpose(-1, -2), sums(g), dt, own=own, at=at) @ x
        return y if D is None else torch.addcmul(y, D[:, None, None], take(x, at))
    state, rows = None, []
    for x_i, dt_i, own_i, g_i, B_i, C_i in zip(*(cut(m, chunk) for m in (x, dt, own, g, B, C)), strict=True):
        s = sums(g_i)
        rows.append(read(x_i, dt_i, s, B_i, C_i, D, state, weigh, own_i))
        if len(rows) * chunk < x.shape[2]:
            state = write(x_i, dt_i, s, B_i, state)
    return take(join(rows), at)


@in_full
def ssd_matrix(dt: Tensor, g: Tensor | None, B: Tensor, C: Tensor, D: Tensor | None = None) -> Tensor:
    """M (B, H, L, L)."""
    return weigh_plain(C @ B.transpose(-1, -2), None if g is None else sums(g), dt, D)


def few(at: Tensor, length: int, chunk: int) -> bool:
    """Whether the rows `at` (B, Q) are so few that reading all tokens from each of them is cheaper than in chunks."""
    return at.shape[1] <= min(2 * chunk, length // 2)


def cut(m: Tensor, chunk: int) -> tuple[Tensor, ...]:
    """m (B, H, L, ...) in chunks of time, the last one perhaps shorter."""
    return (m,) if m.shape[2] <= chunk else m.split(chunk, dim=2)


def join(rows: list[Tensor]) -> Tensor:
    """The chunks (B, H, c, P) as one (B, H, L, P), in memory with time before heads as the projections want it."""
    return rows[0] if len(rows) == 1 else torch.cat([m.transpose(1, 2) for m in rows], dim=1).transpose(1, 2)


def take(m: Tensor, at: Tensor | None) -> Tensor:
    """The rows `at` (B, Q) of m (B, H, L, P), or all of them."""
    return m if at is None else take_rows(m.transpose(1, 2), at).transpose(1, 2)


def read(
    x: Tensor,
    dt: Tensor,
    s: Tensor | None,
    B: Tensor,
    C: Tensor,
    D: Tensor | None,
    state: Tensor | None,
    weigh: Weigh,
    own: Tensor | None = None,
) -> Tensor:
    """A chunk's outputs (B, H, c, P), from its own tokens and from the state before it (B, G, N, H/G · P)."""
    y = weigh(C @ B.transpose(-1, -2), s, dt, D, own) @ x
    return y if state is None else y + recall(C, s, state, x.shape[1])


def recall(C: Tensor, s: Tensor | None, state: Tensor, n_heads: int) -> Tensor:
    """What the state before a chunk gives its tokens: e^{s_i} hᵀ C_i, (B, H, c, P)."""
    y: Tensor = (C @ state).unflatten(-1, (n_heads // C.shape[1], -1)).transpose(2, 3).flatten(1, 2)
    return y if s is None else s.exp().unsqueeze(-1) * y


def write(x: Tensor, dt: Tensor, s: Tensor | None, B: Tensor, state: Tensor | None) -> Tensor:
    """The state after a chunk: e^{s_c} h + Σ_j e^{s_c - s_j} Δ_j B_j x_jᵀ, all heads of a group side by side."""
    weight = dt if s is None else dt * (s[..., -1:] - s).exp()
    groups = (-1, x.shape[1] // B.shape[1])
    added: Tensor = B.transpose(-1, -2) @ (weight.unsqueeze(-1) * x).unflatten(1, groups).transpose(2, 3).flatten(3)
    if state is None:
        return added
    if s is None:
        return state + added
    decay = s[..., -1].exp().unflatten(1, groups).repeat_interleave(x.shape[-1], dim=-1)
    return torch.addcmul(added, decay.unsqueeze(2), state)


def weigh_plain(
    scores: Tensor,
    s: Tensor | None,
    dt: Tensor,
    D: Tensor | None = None,
    own: Tensor | None = None,
    at: Tensor | None = None,
) -> Tensor:
    """M, of all rows or, without D, of the rows `at`."""
    j = torch.arange(dt.shape[2], device=dt.device)
    i = (j if at is None else at.unsqueeze(1)).unsqueeze(-1)  # (L, 1) or (B, 1, Q, 1)
    step = dt.unsqueeze(-2) if own is None or own is dt else torch.where(i == j, own.unsqueeze(-2), dt.unsqueeze(-2))
    M = scores.repeat_interleave(dt.shape[1] // scores.shape[1], dim=1) * step
    if s is None:
        M = M.masked_fill(i < j, 0)
    else:
        asked = s if at is None else torch.take_along_dim(s, at.unsqueeze(1), dim=2)
        M = M * (asked.unsqueeze(-1) - s.unsqueeze(-2)).masked_fill(i < j, -torch.inf).exp()
    return M if D is None else M + D[:, None, None] * torch.eye(M.shape[-1], dtype=M.dtype, device=M.device)


def weigh_compiled(
    scores: Tensor, s: Tensor, dt: Tensor, D: Tensor | None = None, own: Tensor | None = None, at: Tensor | None = None
) -> Tensor:
    """The same on a CPU under a decay, compiled."""
    own = dt if own is None else own
    M: Tensor = _Weigh.apply(scores, s, dt, own, D) if at is None else _WeighRows.apply(scores, s, dt, own, at)
    return M


class _Weigh(torch.autograd.Function):
    """All rows: the lower triangle only, each row's decays from the row above, no exponential per entry."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, s: Tensor, dt: Tensor, own: Tensor, D: Tensor | None) -> Tensor:
        given = tuple(m.contiguous() for m in (scores, s, dt, own))
        ctx.save_for_backward(*given)
        M = s.new_empty(*s.shape, s.shape[-1])
        _weigh_forward(*(m.numpy() for m in (*given, M)))
        if D is not None:
            M.diagonal(dim1=-2, dim2=-1).add_(D.unsqueeze(-1))
        return M

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dM: Tensor) -> tuple[Tensor | None, ...]:
        given: tuple[Tensor, ...] = ctx.saved_tensors
        made = tuple(torch.zeros_like(m) for m in given)
        _weigh_backward(*(m.numpy() for m in (dM.contiguous(), *given, *made)))
        D = dM.diagonal(dim1=-2, dim2=-1).sum((0, 2)) if ctx.needs_input_grad[4] else None
        return *made, D


@njit(cache=True, fastmath=ASSOCIATIVE)
def _weigh_forward(scores: Any, s: Any, dt: Any, own: Any, M: Any) -> None:
    n_batch, n_heads, length = s.shape
    heads = n_heads // scores.shape[1]
    e = np.empty(length, s.dtype)
    for b in range(n_batch):
        for h in range(n_heads):
            for i in range(length):
                if i > 0:
                    e[i - 1] = dt[b, h, i - 1]
                    e[:i] *= np.exp(s[b, h, i] - s[b, h, i - 1])
                e[i] = own[b, h, i]
                for j in range(i + 1):
                    M[b, h, i, j] = scores[b, h // heads, i, j] * e[j]
                M[b, h, i, i + 1 :] = 0


@njit(cache=True, fastmath=ASSOCIATIVE)
def _weigh_backward(
    dM: Any, scores: Any, s: Any, dt: Any, own: Any, d_scores: Any, d_s: Any, d_dt: Any, d_own: Any
) -> None:
    n_batch, n_heads, length = s.shape
    heads = n_heads // scores.shape[1]
    e = np.empty(length, s.dtype)
    for b in range(n_batch):
        for h in range(n_heads):
            given, made, column = scores[b, h // heads], d_scores[b, h // heads], d_dt[b, h]
            for i in range(length):
                if i > 0:
                    e[:i] *= np.exp(s[b, h, i] - s[b, h, i - 1])
                e[i] = 1
                row = e[i] * 0
                for j in range(i):
                    u = dM[b, h, i, j] * e[j]
                    z = u * given[i, j]
                    made[i, j] += u * dt[b, h, j]
                    row += z * dt[b, h, j]
                    column[j] += z
                d_s[b, h, i] = row
            for j in range(length):
                d_s[b, h, j] -= column[j] * dt[b, h, j]
                d_own[b, h, j] = dM[b, h, j, j] * given[j, j]  # the diagonal does not decay
                made[j, j] += dM[b, h, j, j] * own[b, h, j]


class _WeighRows(torch.autograd.Function):
    """The rows `at` of a whole sequence."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, s: Tensor, dt: Tensor, own: Tensor, at: Tensor) -> Tensor:
        given = tuple(m.contiguous() for m in (scores, s, dt, own, at))
        ctx.save_for_backward(*given)
        M = s.new_empty(*s.shape[:2], *scores.shape[2:])
        _rows_forward(*(m.numpy() for m in (*given, M)))
        return M

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dM: Tensor) -> tuple[Tensor | None, ...]:
        given: tuple[Tensor, ...] = ctx.saved_tensors
        made = tuple(torch.zeros_like(m) for m in given[:4])
        _rows_backward(*(m.numpy() for m in (dM.contiguous(), *given, *made)))
        return *made, None


@njit(cache=True, fastmath=ASSOCIATIVE)
def _rows_forward(scores: Any, s: Any, dt: Any, own: Any, at: Any, M: Any) -> None:
    n_batch, n_heads, n_rows, length = M.shape
    heads = n_heads // scores.shape[1]
    for b in range(n_batch):
        for h in range(n_heads):
            for q in range(n_rows):
                i = at[b, q]
                for j in range(i):
                    M[b, h, q, j] = scores[b, h // heads, q, j] * exp(s[b, h, i] - s[b, h, j]) * dt[b, h, j]
                M[b, h, q, i] = scores[b, h // heads, q, i] * own[b, h, i]
                for j in range(i + 1, length):
                    M[b, h, q, j] = 0


@njit(cache=True, fastmath=ASSOCIATIVE)
def _rows_backward(
    dM: Any, scores: Any, s: Any, dt: Any, own: Any, at: Any, d_scores: Any, d_s: Any, d_dt: Any, d_own: Any
) -> None:
    n_batch, n_heads, n_rows, length = dM.shape
    heads = n_heads // scores.shape[1]
    for b in range(n_batch):
        for h in range(n_heads):
            for q in range(n_rows):
                i = at[b, q]
                row = s[b, h, i] * 0
                for j in range(i):
                    u = dM[b, h, q, j] * exp(s[b, h, i] - s[b, h, j])
                    z = u * scores[b, h // heads, q, j]
                    d_scores[b, h // heads, q, j] += u * dt[b, h, j]
                    row += z * dt[b, h, j]
                    d_dt[b, h, j] += z
                d_s[b, h, i] += row
            for j in range(length):
                d_s[b, h, j] -= d_dt[b, h, j] * dt[b, h, j]
            for q in range(n_rows):  # the diagonal does not decay
                i = at[b, q]
                d_own[b, h, i] += dM[b, h, q, i] * scores[b, h // heads, q, i]
                d_scores[b, h // heads, q, i] += dM[b, h, q, i] * own[b, h, i]


ssd_torch, ssd_numba = _in_chunks(weigh_plain), _in_chunks(weigh_compiled)
