"""The selective scan of Mamba: a diagonal recurrence whose step, input and output follow the token.

    h_t = exp(dt_t A) ⊙ h_{t-1} + (dt_t x_t) B_tᵀ        h (D_i, N) starts at 0
    y_t = h_t C_t + D ⊙ x_t

x and dt are (B, L, D_i), A is (D_i, N), B and C are (B, L, N), D is (D_i,), all of one dtype.
"""

from typing import Any

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from recollect.ops.compiled import FUSED, LANES, Array, exp, in_parallel, threaded

CHUNK = 32  # steps that the form for any device takes at once
STEPS = 16  # between two states that the compiled form keeps
BLOCK = 128  # channels at a time in it, so that their states stay in the nearest caches


def selective_scan_loop(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The judge: one token at a time."""
    h = torch.zeros_like(A).expand(len(x), -1, -1)  # (B, D_i, N)
    rows = []
    for t in range(x.shape[1]):
        a = torch.exp(dt[:, t, :, None] * A)
        h = a * h + (dt[:, t] * x[:, t]).unsqueeze(-1) * B[:, t, None]
        rows.append((h * C[:, t, None]).sum(dim=-1) + D * x[:, t])
    return torch.stack(rows, dim=1)


def selective_scan_torch(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The same in chunks, on any device; the backward pass computes the states of a chunk again."""
    h = torch.zeros_like(A).expand(len(x), -1, -1)
    rows = []
    for start in range(0, x.shape[1], CHUNK):
        chunk = slice(start, start + CHUNK)
        inputs = (h, x[:, chunk], dt[:, chunk], A, B[:, chunk], C[:, chunk])
        y, h = checkpoint(_scan_chunk, *inputs, use_reentrant=False, preserve_rng_state=False)
        rows.append(y)
    return torch.cat(rows, dim=1) + D * x


def _scan_chunk(h: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
    """h_t C_t over a chunk that starts from the state h, and its last state.

    By doubling: each pass joins what a step has seen with what the steps before that have seen. Decays are only
    multiplied, never divided, so a product that underflows is a state forgotten.
    """
    a = torch.exp(dt.unsqueeze(-1) * A)  # (B, L, D_i, N)
    states = (dt * x).unsqueeze(-1) * B.unsqueeze(-2)
    reach = 1
    while reach < x.shape[1]:
        earlier = (0, 0, 0, 0, reach, 0)
        states = states + a * F.pad(states[:, :-reach], earlier)
        a = a * F.pad(a[:, :-reach], earlier, value=1.0)
        reach *= 2
    states = states + a * h.unsqueeze(1)
    return (states * C.unsqueeze(-2)).sum(dim=-1), states[:, -1]


def selective_scan_matrix(dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The scan as a matrix over time for every channel: y = M x with M (B, D_i, L, L).

    M_ij = C_i · (exp(A Σ_{k=j+1..i} dt_k) ⊙ B_j) dt_j for j <= i, and D added on the diagonal.
    """
    length = dt.shape[1]
    dt = dt.transpose(1, 2)  # (B, D_i, L)
    clock = dt.double().cumsum(dim=-1)
    passed = (clock.unsqueeze(-1) - clock.unsqueeze(-2)).to(dt.dtype)  # (B, D_i, L, L)
    future = torch.ones(length, length, dtype=torch.bool, device=dt.device).triu(1)
    M = torch.diag_embed(D.unsqueeze(-1).expand(-1, length))
    for n in range(A.shape[1]):
        decay = (passed * A[:, n, None, None]).masked_fill(future, -torch.inf).exp()
        M = M + decay * C[:, None, :, None, n] * (B[:, None, :, n] * dt).unsqueeze(-2)
    return M


def selective_scan_numba(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The same on a CPU in compiled loops, with as many threads as torch has.

    Channels lie side by side in every array and the innermost loops run over them, so that LLVM turns them into vector
    instructions; each such loop touches few arrays, since it must rule out at run time that they overlap. The forward
    pass keeps some states; the backward pass computes those between them again. A row of the batch is computed by one
    thread, and sums over rows are taken in the order of the rows.
    """
    y: Tensor = _Scan.apply(x, dt, A.t(), B, C, D)
    return y


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        x, _, A, *_ = inputs = [v.contiguous() for v in given]  # A is (N, D_i) here
        y, kept = torch.empty_like(x), x.new_empty(len(x), -(-x.shape[1] // STEPS), *A.shape)
        threaded(_forward, _forward_parallel)(*(v.numpy() for v in (*inputs, y, kept)))
        ctx.save_for_backward(*inputs, kept)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, ...]:
        given = tuple(v.numpy() for v in (*ctx.saved_tensors, dy.contiguous()))
        x, _, A, B, C, D = given[:6]
        dx, ddt, dB, dC = np.empty_like(x), np.empty_like(x), np.zeros_like(B), np.zeros_like(C)
        dA, dD = np.zeros((len(x), *A.shape), A.dtype), np.zeros((len(x), *D.shape), D.dtype)  # one per row
        threaded(_backward, _backward_parallel)(given, (dx, ddt, dA, dB, dC, dD))
        return tuple(map(torch.from_numpy, (dx, ddt, dA.sum(axis=0), dB, dC, dD.sum(axis=0))))


@njit(fastmath=FUSED, error_model="numpy")
def _multiply(y: Array, a: Array, b: Array) -> None:
    for i in range(y.shape[0]):
        y[i] = a[i] * b[i]


@njit(fastmath=FUSED, error_model="numpy")
def _add_product(y: Array, a: Array, b: Array) -> None:
    for i in range(y.shape[0]):
        y[i] += a[i] * b[i]


@njit(fastmath=FUSED, error_model="numpy")
def _step(dt: Array, A: Array, u: Array, b: float, c: float, h: Array, y: Array) -> None:
    """One step of one state of all channels: h <- exp(dt A) h + u b, and y <- y + c h."""
    for i in range(h.shape[0]):
        h[i] = exp(dt[i] * A[i]) * h[i] + u[i] * b
        y[i] += c * h[i]


@njit(fastmath=FUSED, error_model="numpy")
def _retrace(dt: Array, A: Array, u: Array, b: float, before: Array, a: Array, after: Array) -> None:
    """The same step, keeping its decay a and the states before and after it."""
    for i in range(a.shape[0]):
        a[i] = exp(dt[i] * A[i])
        after[i] = a[i] * before[i] + u[i] * b


@njit(fastmath=LANES, error_model="numpy")
def _arrive(dy: Array, c: float, h: Array, u: Array, g: Array) -> tuple[float, float]:
    """Backward through y = c h, completing g, the gradient of h; returns those of b and c."""
    db = dc = u.dtype.type(0)
    for i in range(g.shape[0]):
        g[i] += dy[i] * c
        db += g[i] * u[i]
        dc += dy[i] * h[i]
    return db, dc


@njit(fastmath=FUSED, error_model="numpy")
def _leave(a: Array, b: float, g: Array, du: Array) -> None:
    """Backward through h = a h' + u b: g becomes the share of h' in it."""
    for i in range(g.shape[0]):
        du[i] += g[i] * b
        g[i] *= a[i]


@njit(fastmath=FUSED, error_model="numpy")
def _decay(dt: Array, A: Array, h: Array, g: Array, ddt: Array, dA: Array) -> None:
    """Backward through a = exp(dt A), with the previous state h and its gradient g, which has the factor a."""
    for i in range(g.shape[0]):
        ds = g[i] * h[i]
        ddt[i] += ds * A[i]
        dA[i] += ds * dt[i]


@njit(fastmath=FUSED, error_model="numpy")
def _forward_block(
    x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array, lo: int, hi: int
) -> None:
    """Channels lo..hi of one row of the batch: fills y and kept."""
    length, n_states = B.shape
    h, u = np.zeros((n_states, hi - lo), x.dtype), np.empty(hi - lo, x.dtype)
    for t in range(length):
        if t % STEPS == 0:
            for n in range(n_states):
                kept[t // STEPS, n, lo:hi] = h[n]
        _multiply(u, dt[t, lo:hi], x[t, lo:hi])
        _multiply(y[t, lo:hi], D[lo:hi], x[t, lo:hi])
        for n in range(n_states):
            _step(dt[t, lo:hi], A[n, lo:hi], u, B[t, n], C[t, n], h[n], y[t, lo:hi])


@njit(fastmath=FUSED, error_model="numpy")
def _retrace_chunk(
    x: Array, dt: Array, A: Array, B: Array, kept: Array, u: Array, h: Array, a: Array, chunk: int, lo: int, hi: int
) -> int:
    """The inputs u, states h[1:] and decays a of a chunk, from the state h[0] kept; returns its number of steps."""
    for n in range(A.shape[0]):
        h[0, n] = kept[chunk, n, lo:hi]
    steps: int = min(STEPS, x.shape[0] - chunk * STEPS)
    for i in range(steps):
        t = chunk * STEPS + i
        _multiply(u[i], dt[t, lo:hi], x[t, lo:hi])
        for n in range(A.shape[0]):
            _retrace(dt[t, lo:hi], A[n, lo:hi], u[i], B[t, n], h[i, n], a[i, n], h[i + 1, n])
    return steps


@njit(fastmath=FUSED, error_model="numpy")
def _backward_block(given: tuple[Array, ...], grads: tuple[Array, ...], lo: int, hi: int) -> None:
    """Channels lo..hi of one row, from the last step to the first: fills dx and ddt, adds to dA, dB, dC and dD."""
    x, dt, A, B, C, D, kept, dy = given
    dx, ddt, dA, dB, dC, dD = grads
    length, n_states = B.shape
    h, a = np.empty((STEPS + 1, n_states, hi - lo), x.dtype), np.empty((STEPS, n_states, hi - lo), x.dtype)
    u, du = np.empty((STEPS, hi - lo), x.dtype), np.empty(hi - lo, x.dtype)
    g = np.zeros((n_states, hi - lo), x.dtype)
    for chunk in range((length - 1) // STEPS, -1, -1):
        steps = _retrace_chunk(x, dt, A, B, kept, u, h, a, chunk, lo, hi)
        for i in range(steps - 1, -1, -1):
            t = chunk * STEPS + i
            du[:] = 0
            ddt[t, lo:hi] = 0
            for n in range(n_states):
                db, dc = _arrive(dy[t, lo:hi], C[t, n], h[i + 1, n], u[i], g[n])
                dB[t, n] += db
                dC[t, n] += dc
                _leave(a[i, n], B[t, n], g[n], du)
                _decay(dt[t, lo:hi], A[n, lo:hi], h[i, n], g[n], ddt[t, lo:hi], dA[n, lo:hi])
            _add_product(ddt[t, lo:hi], du, x[t, lo:hi])
            _multiply(dx[t, lo:hi], du, dt[t, lo:hi])
            _add_product(dx[t, lo:hi], dy[t, lo:hi], D[lo:hi])
            _add_product(dD[lo:hi], dy[t, lo:hi], x[t, lo:hi])


@njit(cache=True, error_model="numpy")
def _forward_row(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array) -> None:
    width = x.shape[1]
    blocks = -(-width // BLOCK)
    for k in range(blocks):
        _forward_block(x, dt, A, B, C, D, y, kept, width * k // blocks, width * (k + 1) // blocks)


@njit(cache=True, error_model="numpy")
def _backward_row(given: tuple[Array, ...], grads: tuple[Array, ...]) -> None:
    width = given[0].shape[1]
    blocks = -(-width // BLOCK)
    for k in range(blocks):
        _backward_block(given, grads, width * k // blocks, width * (k + 1) // blocks)


@njit(cache=True)
def _forward(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(x[b], dt[b], A, B[b], C[b], D, y[b], kept[b])


@njit(cache=True)
def _backward(given: tuple[Array, ...], grads: tuple[Array, ...]) -> None:
    x, dt, A, B, C, D, kept, dy = given
    dx, ddt, dA, dB, dC, dD = grads
    for b in prange(x.shape[0]):
        row = (x[b], dt[b], A, B[b], C[b], D, kept[b], dy[b])
        _backward_row(row, (dx[b], ddt[b], dA[b], dB[b], dC[b], dD[b]))


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
