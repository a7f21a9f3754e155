"""The delta rule: a matrix that is corrected towards each new value, and may decay (the gated delta rule).

    S_t = e^{g_t} S_{t-1} + β_t k_t u_tᵀ   (K, P),      u_t = v_t - e^{g_t} S_{t-1}ᵀ k_t,      o_t = S_tᵀ q_t,   g <= 0

u is the error of the old state on the new pair. Given the errors this is `ops.ssd` with B = k, C = q, Δ = β and x = u;
within a chunk they solve a unit lower triangular system, (I + tril(M, -1)) u = v - (what the state before it gives),
M_ij = (k_i · k_j) e^{s_i - s_j} β_j. q and k are (B, H, L, K), v (B, H, L, P), β and g (B, H, L); g = None: no decay.
All forms return o (B, H, L, P), or its rows `at` (B, H, Q, P); the loop has no chunks.
"""

from collections.abc import Callable
from itertools import repeat
from typing import Any, TypeAlias

import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from recollect.ops.compiled import ASSOCIATIVE
from recollect.ops.precision import in_full
from recollect.ops.ssd import (
    Weigh,
    cut,
    few,
    join,
    read,
    recall,
    ssd_matrix,
    sums,
    take,
    weigh_compiled,
    weigh_plain,
    write,
)


@in_full
def delta_loop(
    q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The judge: one token at a time."""
    S = v.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1])  # (B, H, K, P)
    rows = []
    for t in range(k.shape[2]):
        if g is not None:
            S = g[:, :, t, None, None].exp() * S
        error = v[:, :, t] - (S * k[:, :, t, :, None]).sum(-2)
        S = S + beta[:, :, t, None, None] * k[:, :, t, :, None] * error.unsqueeze(-2)
        rows.append((S * q[:, :, t, :, None]).sum(-2))
    return take(torch.stack(rows, dim=2), at)


Solve: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""From M and v (B, H, c, ...) to the u with (I + tril(M, -1)) u = v."""


def _in_chunks(decayed: Weigh, solve: Solve) -> Callable[..., Tensor]:
    """The same in chunks of matrix products, with these pieces: the weights under a decay, and u from M and v."""

    @in_full
    def delta(
        q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor | None, chunk: int, at: Tensor | None = None
    ) -> Tensor:
        directly = at is not None and few(at, k.shape[2], chunk)
        weigh, decays = (weigh_plain, repeat(None)) if g is None else (decayed, map(sums, cut(g, chunk)))
        state, rows = None, []
        for q_i, k_i, v_i, beta_i, s in zip(*(cut(m, chunk) for m in (q, k, v, beta)), decays, strict=False):
            M = weigh(k_i @ k_i.transpose(-1, -2), s, beta_i)
            u = solve(M, v_i if state is None else v_i - recall(k_i, s, state, k_i.shape[1]))  # (B, H, c, P)
            rows.append(u if directly else read(u, beta_i, s, k_i, q_i, None, state, weigh))
            if len(rows) * chunk < k.shape[2]:
                state = write(u, beta_i, s, k_i, state)
        if at is not None and directly:
            s = None if g is None else sums(g)
            return weigh(take(q, at) @ k.transpose(-1, -2), s, beta, at=at) @ join(rows)
        return take(join(rows), at)

    return delta


@in_full
def delta_matrix(q: Tensor, k: Tensor, beta: Tensor, g: Tensor | None) -> Tensor:
    """The matrix (B, H, L, L) that takes v to o."""
    A, M = ssd_matrix(beta, g, k, q), ssd_matrix(beta, g, k, k)
    made: Tensor = torch.linalg.solve_triangular(M, A, upper=False, left=False, unitriangular=True)
    return made


def delta_eigenvalues(k: Tensor, beta: Tensor, g: Tensor | None) -> Tensor:
    """Those of e^g (I - β k kᵀ), (B, L, H K): all e^g but one a head, along k, which is e^g (1 - β ‖k‖²)."""
    along = 1 - beta * k.square().sum(-1)  # (B, H, L)
    values = torch.cat((along.unsqueeze(-1), torch.ones_like(k[..., 1:])), dim=-1)
    kept = values if g is None else values * g.unsqueeze(-1).exp()
    return kept.transpose(1, 2).flatten(-2)


def solve_plain(M: Tensor, v: Tensor) -> Tensor:
    """By torch's own."""
    u: Tensor = torch.linalg.solve_triangular(M, v, upper=False, unitriangular=True)
    return u


def solve_compiled(M: Tensor, v: Tensor) -> Tensor:
    """The same on a CPU, compiled."""
    u: Tensor = _Solve.apply(M, v)
    return u


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, M: Tensor, v: Tensor) -> Tensor:
        M, u = M.contiguous(), v.clone(memory_format=torch.contiguous_format)
        _substitute(M.flatten(0, 1).numpy(), u.flatten(0, 1).numpy())
        ctx.save_for_backward(M, u)
        return u

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, du: Tensor) -> tuple[Tensor, Tensor]:
        M, u = ctx.saved_tensors
        dv = du.clone(memory_format=torch.contiguous_format)
        _substitute_back(M.flatten(0, 1).numpy(), dv.flatten(0, 1).numpy())
        return (dv @ u.transpose(-1, -2)).tril_(-1).neg_(), dv


@njit(cache=True, fastmath=ASSOCIATIVE)
def _substitute(M: Any, u: Any) -> None:
    for b in range(len(M)):
        for i in range(M.shape[1]):
            for j in range(i):
                a = M[b, i, j]
                for p in range(u.shape[2]):
                    u[b, i, p] -= a * u[b, j, p]


@njit(cache=True, fastmath=ASSOCIATIVE)
def _substitute_back(M: Any, v: Any) -> None:
    for b in range(len(M)):
        for i in range(M.shape[1] - 1, -1, -1):
            for j in range(i):
                a = M[b, i, j]
                for p in range(v.shape[2]):
                    v[b, j, p] -= a * v[b, i, p]


delta_torch, delta_numba = _in_chunks(weigh_plain, solve_plain), _in_chunks(weigh_compiled, solve_compiled)
