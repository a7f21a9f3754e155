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

from recollect.ops.compiled import Array, in_parallel, threaded
from recollect.ops.lanes import LOG2E, WIDTH, lanes, power_of_two, put, total, zeros_like
from recollect.ops.recurrence import recur

CHUNK = 32  # steps that the form for any device takes at once on a CPU, and at least elsewhere
NUMBERS = 2**26  # states that it makes at once elsewhere: a quarter of a gigabyte, in few kernels
STEPS = 8  # between two states that the compiled form keeps: those of some channels fit into the nearest cache


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
    rows, steps = [], CHUNK if x.device.type == "cpu" else max(CHUNK, NUMBERS // (len(x) * A.numel()))
    for start in range(0, x.shape[1], steps):
        chunk = slice(start, start + steps)
        inputs = (h, x[:, chunk], dt[:, chunk], A, B[:, chunk], C[:, chunk])
        y, h = checkpoint(_scan_chunk, *inputs, use_reentrant=False, preserve_rng_state=False)
        rows.append(y)
    return torch.cat(rows, dim=1) + D * x


def _scan_chunk(h: Tensor, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
    """h_t C_t over a chunk that starts from the state h, and its last state."""
    a = torch.exp(dt.unsqueeze(-1) * A)  # (B, L, D_i, N)
    states = recur(a, (dt * x).unsqueeze(-1) * B.unsqueeze(-2), h)
    return (states * C.unsqueeze(-2)).sum(dim=-1), states[:, -1]


def selective_scan_matrix(dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The scan as a matrix over time for every channel: y = M x with M (B, D_i, L, L).

    M_ij = C_i · (exp(A Σ_{k=j+1..i} dt_k) ⊙ B_j) dt_j for j <= i, and D added on the diagonal.
    """
    length = dt.shape[1]
    dt = dt.transpose(1, 2)  # (B, D_i, L)
    clock = dt.double().cumsum(dim=-1)
    passed = (clock.unsqueeze(-1) - clock.unsqueeze(-2)).to(dt.dtype).tril()  # (B, D_i, L, L)
    M = torch.diag_embed(D.unsqueeze(-1).expand(-1, length))
    for n in range(A.shape[1]):
        decay = (passed * A[:, n, None, None]).exp()
        M = M + decay * C[:, None, :, None, n] * (B[:, None, :, n] * dt).unsqueeze(-2)
    return M.tril()


def selective_scan_numba(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The same on a CPU in compiled loops, with as many threads as torch has.

    Some channels at a time, in lanes, go through all steps, so that their states stay in the nearest cache. The
    forward pass keeps some states; the backward pass computes those between them again. A row of the batch is computed
    by one thread, and sums over rows are taken in the order of the rows.
    """
    width = x.shape[-1]
    if missing := -width % WIDTH:
        x, dt, D = (F.pad(v, (0, missing)) for v in (x, dt, D))
        A = F.pad(A, (0, 0, 0, missing))
    y: Tensor = _Scan.apply(x, dt, A.unflatten(0, (-1, WIDTH)).transpose(1, 2), B, C, D)
    return y[..., :width]


class _Scan(torch.autograd.Function):
    """A is (G, N, W) here, channels in G groups of W, the width of lanes."""

    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        x, _, A, *_ = inputs = [v.contiguous() for v in given]
        groups, *states = A.shape
        y, kept = torch.empty_like(x), x.new_empty(len(x), groups, -(-x.shape[1] // STEPS), *states)
        threaded(_forward, _forward_parallel)(*(v.numpy() for v in (*inputs, y, kept)))
        ctx.save_for_backward(*inputs, kept)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, ...]:
        given = tuple(v.numpy() for v in (*ctx.saved_tensors, dy.contiguous()))
        x, _, A, B, C, D = given[:6]
        dx, ddt, dB, dC = np.empty_like(x), np.empty_like(x), np.empty_like(B), np.empty_like(C)
        dA, dD = np.zeros((len(x), *A.shape), A.dtype), np.zeros((len(x), *D.shape), D.dtype)  # one per row
        threaded(_backward, _backward_parallel)(given, (dx, ddt, dA, dB, dC, dD))
        return tuple(map(torch.from_numpy, (dx, ddt, dA.sum(axis=0), dB, dC, dD.sum(axis=0))))


@njit(error_model="numpy")
def _forward_group(
    x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array, h: Array, c: int
) -> None:
    """The channels from c on of one row: fills y and kept. A is (N, W), kept (chunks, N, W), h (N, W) a workspace."""
    h[:] = 0
    for t in range(B.shape[0]):
        if t % STEPS == 0:
            for n in range(B.shape[1]):
                put(kept, (t // STEPS, n, 0), lanes(h, (n, 0)))
        x_t, dt_t = lanes(x, (t, c)), lanes(dt, (t, c))
        u, clock, y_t = dt_t * x_t, dt_t * LOG2E, lanes(D, (c,)) * x_t
        for n in range(B.shape[1]):
            h_n = power_of_two(clock * lanes(A, (n, 0))) * lanes(h, (n, 0)) + u * B[t, n]
            put(h, (n, 0), h_n)
            y_t = y_t + h_n * C[t, n]
        put(y, (t, c), y_t)


@njit(error_model="numpy")
def _retrace(x: Array, dt: Array, A: Array, B: Array, h: Array, a: Array, start: int, stop: int, c: int) -> None:
    """The states h[1:] and decays a of a chunk, from the state h[0]."""
    for t in range(start, stop):
        dt_t = lanes(dt, (t, c))
        u, clock, i = dt_t * lanes(x, (t, c)), dt_t * LOG2E, t - start
        for n in range(B.shape[1]):
            a_n = power_of_two(clock * lanes(A, (n, 0)))
            put(a, (i, n, 0), a_n)
            put(h, (i + 1, n, 0), a_n * lanes(h, (i, n, 0)) + u * B[t, n])


@njit(error_model="numpy")
def _backward_group(
    row: tuple[Array, ...], grads: tuple[Array, ...], work: tuple[Array, ...], end: int, c: int
) -> None:
    """The channels from c on of one row, from step `end` to the first: fills dx, ddt and dD, adds to the others."""
    x, dt, A, B, C, D, kept, dy = row
    dx, ddt, dA, dB, dC, dD = grads  # dA is (N, W); dB and dC are (L, N, W), still to be summed over their lanes
    h, a, g = work  # (STEPS + 1, N, W), (STEPS, N, W), and the gradient of the state, (N, W)
    g[:] = 0
    dD_c = zeros_like(D)
    for chunk in range((end - 1) // STEPS, -1, -1):
        start, stop = chunk * STEPS, min((chunk + 1) * STEPS, end)
        for n in range(B.shape[1]):
            put(h, (0, n, 0), lanes(kept, (chunk, n, 0)))
        _retrace(x, dt, A, B, h, a, start, stop, c)
        for t in range(stop - 1, start - 1, -1):
            x_t, dt_t, dy_t, i = lanes(x, (t, c)), lanes(dt, (t, c)), lanes(dy, (t, c)), t - start
            u, du, ddt_t = dt_t * x_t, zeros_like(D), zeros_like(D)
            for n in range(B.shape[1]):
                g_n = lanes(g, (n, 0)) + dy_t * C[t, n]  # of the state after the step
                put(dB, (t, n, 0), lanes(dB, (t, n, 0)) + g_n * u)
                put(dC, (t, n, 0), lanes(dC, (t, n, 0)) + dy_t * lanes(h, (i + 1, n, 0)))
                du = du + g_n * B[t, n]
                g_n = g_n * lanes(a, (i, n, 0))  # and of the one before it
                put(g, (n, 0), g_n)
                ds = g_n * lanes(h, (i, n, 0))  # of dt A
                ddt_t = ddt_t + ds * lanes(A, (n, 0))
                put(dA, (n, 0), lanes(dA, (n, 0)) + ds * dt_t)
            put(dx, (t, c), du * dt_t + dy_t * lanes(D, (c,)))
            put(ddt, (t, c), ddt_t + du * x_t)
            dD_c = dD_c + dy_t * x_t
    put(dD, (c,), dD_c)


@njit(cache=True, error_model="numpy")
def _forward_row(x: Array, dt: Array, A: Array, B: Array, C: Array, D: Array, y: Array, kept: Array) -> None:
    h = np.empty(A.shape[1:], A.dtype)
    for k in range(len(A)):
        _forward_group(x, dt, A[k], B, C, D, y, kept[k], h, k * WIDTH)


@njit(cache=True, error_model="numpy")
def _backward_row(row: tuple[Array, ...], grads: tuple[Array, ...]) -> None:
    """From the last step that has a gradient: behind a row's last question there is none."""
    x, dt, A, B, C, D, kept, dy = row
    dx, ddt, dA, dB, dC, dD = grads
    states, end = A.shape[1:], len(dy)
    while end and not dy[end - 1].any():
        end -= 1
    dx[end:], ddt[end:], dB[end:], dC[end:] = 0, 0, 0, 0
    work = np.empty((STEPS + 1, *states), x.dtype), np.empty((STEPS, *states), x.dtype), np.empty(states, x.dtype)
    in_lanes = np.zeros((len(B), *states), x.dtype), np.zeros((len(C), *states), x.dtype)
    for k in range(len(A)):
        group = (x, dt, A[k], B, C, D, kept[k], dy)
        _backward_group(group, (dx, ddt, dA[k], *in_lanes, dD), work, end, k * WIDTH)
    for t in range(end):
        for n in range(states[0]):
            dB[t, n], dC[t, n] = total(lanes(in_lanes[0], (t, n, 0))), total(lanes(in_lanes[1], (t, n, 0)))


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
