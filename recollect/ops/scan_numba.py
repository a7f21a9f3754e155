"""The selective scan on a CPU: Numba kernels for one pass forward and one backward.

Channels lie side by side in every array and the innermost loops run over them, so that LLVM turns them into vector
instructions; each such loop touches few arrays, since it must rule out at run time that they overlap. The forward
pass keeps the state at the start of every chunk; the backward pass computes a chunk's states again from there.

A row of the batch is computed by one thread, and sums over rows are taken in the order of the rows.
`contract` lets multiply and add fuse, `reassoc` lets the two dot products run in lanes: neither depends on the
threads, and no flag supposes numbers to be finite.
"""

import math
from typing import Any, TypeAlias

import numpy as np
from numba import njit, prange, types
from numba.extending import overload
from numpy.typing import NDArray

from recollect.ops.threads import numba_threads

CHUNK = 16  # steps between two kept states
BLOCK = 128  # channels at a time, so that their states stay in the nearest caches

Array: TypeAlias = NDArray[Any]
FUSED, LANES = {"contract"}, {"contract", "reassoc"}
LOWEST, HIGHEST = np.float32(-88), np.float32(88.8)
LOG2E, LN2, LN2_REST = np.float32(1 / math.log(2)), np.float32(0.693359375), np.float32(math.log(2) - 0.693359375)
SHIFT = np.float32(1.5 * 2**23 + 127)
TAYLOR = tuple(np.float32(1 / math.factorial(n)) for n in range(8))


def exp(x: float) -> float:
    """exp(x) inside kernels: the library's in double precision, one that vectorises in single precision."""
    return math.exp(x)


@overload(exp, jit_options={"fastmath": FUSED})
def _exp_of(x: Any) -> Any:
    return _exp32 if x == types.float32 else _exp64


def _exp64(x: Any) -> Any:
    return math.exp(x)


def _exp32(x: Any) -> Any:
    """2^k exp(r) with x = k ln 2 + r; adding SHIFT rounds to k and leaves k + 127 in the last bits.

    Relative error below 1e-7; exactly 0 where 2^k would be subnormal, infinite from 88.4 on; NaN stays NaN.
    """
    x = LOWEST if x < LOWEST else x
    x = HIGHEST if x > HIGHEST else x
    shifted = x * LOG2E + SHIFT
    k = shifted - SHIFT
    r = x - k * LN2 - k * LN2_REST
    series = TAYLOR[7] * r + TAYLOR[6]
    series = ((series * r + TAYLOR[5]) * r + TAYLOR[4]) * r + TAYLOR[3]
    series = ((series * r + TAYLOR[2]) * r + TAYLOR[1]) * r + TAYLOR[0]
    return series * np.int32(np.float32(shifted).view(np.int32) << 23).view(np.float32)


@njit(fastmath=FUSED, error_model="numpy")
def _fill(y: Array, value: float) -> None:
    for i in range(y.shape[0]):
        y[i] = value


@njit(fastmath=FUSED, error_model="numpy")
def _copy(y: Array, x: Array) -> None:
    for i in range(y.shape[0]):
        y[i] = x[i]


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
        if t % CHUNK == 0:
            for n in range(n_states):
                _copy(kept[t // CHUNK, n, lo:hi], h[n])
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
        _copy(h[0, n], kept[chunk, n, lo:hi])
    steps: int = min(CHUNK, x.shape[0] - chunk * CHUNK)
    for i in range(steps):
        t = chunk * CHUNK + i
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
    h, a = np.empty((CHUNK + 1, n_states, hi - lo), x.dtype), np.empty((CHUNK, n_states, hi - lo), x.dtype)
    u, du = np.empty((CHUNK, hi - lo), x.dtype), np.empty(hi - lo, x.dtype)
    g = np.zeros((n_states, hi - lo), x.dtype)
    for chunk in range((length - 1) // CHUNK, -1, -1):
        steps = _retrace_chunk(x, dt, A, B, kept, u, h, a, chunk, lo, hi)
        for i in range(steps - 1, -1, -1):
            t = chunk * CHUNK + i
            _fill(du, 0)
            _fill(ddt[t, lo:hi], 0)
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
    for b in range(x.shape[0]):
        _forward_row(x[b], dt[b], A, B[b], C[b], D, y[b], kept[b])


@njit(cache=True, parallel=True)
def _forward_parallel(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array) -> None:
    for b in prange(x.shape[0]):
        _forward_row(x[b], dt[b], A, B[b], C[b], D, y[b], kept[b])


@njit(cache=True)
def _backward(given: tuple[Array, ...], grads: tuple[Array, ...]) -> None:
    x, dt, A, B, C, D, kept, dy = given
    dx, ddt, dA, dB, dC, dD = grads
    for b in range(x.shape[0]):
        row = (x[b], dt[b], A, B[b], C[b], D, kept[b], dy[b])
        _backward_row(row, (dx[b], ddt[b], dA[b], dB[b], dC[b], dD[b]))


@njit(cache=True, parallel=True)
def _backward_parallel(given: tuple[Array, ...], grads: tuple[Array, ...]) -> None:
    x, dt, A, B, C, D, kept, dy = given
    dx, ddt, dA, dB, dC, dD = grads
    for b in prange(x.shape[0]):
        row = (x[b], dt[b], A, B[b], C[b], D, kept[b], dy[b])
        _backward_row(row, (dx[b], ddt[b], dA[b], dB[b], dC[b], dD[b]))


def forward(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array]:
    """y (B, L, D_i) and the kept states. All arrays are contiguous, and A is (N, D_i) here."""
    rows, length, width = x.shape
    y, kept = np.empty_like(x), np.empty((rows, -(-length // CHUNK), len(A), width), x.dtype)
    run = _forward if numba_threads() == 1 else _forward_parallel
    run(x, dt, A, B, C, D, y, kept)
    return y, kept


def backward(
    x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, kept: Array, dy: Array
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The gradients of x, dt, A, B, C, D."""
    dx, ddt, dB, dC = np.empty_like(x), np.empty_like(x), np.zeros_like(B), np.zeros_like(C)
    dA, dD = np.zeros((len(x), *A.shape), A.dtype), np.zeros((len(x), *D.shape), D.dtype)  # one per row
    run = _backward if numba_threads() == 1 else _backward_parallel
    run((x, dt, A, B, C, D, kept, dy), (dx, ddt, dA, dB, dC, dD))
    return dx, ddt, dA.sum(axis=0), dB, dC, dD.sum(axis=0)
