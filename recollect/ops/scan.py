"""The selective scan of Mamba: a diagonal recurrence whose step, input and output follow the token.

    h_t = exp(dt_t A) ⊙ h_{t-1} + (dt_t x_t) B_tᵀ        h (D_i, N) starts at 0
    y_t = h_t C_t + D ⊙ x_t

x and dt are (B, L, D_i), A is (D_i, N), B and C are (B, L, N), D is (D_i,), all of one dtype.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from recollect.ops.scan_numba import backward, forward

CHUNK = 32


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


def selective_scan_numba(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """The same on a CPU in compiled loops, with as many threads as torch has."""
    y: Tensor = _Scan.apply(x, dt, A.t(), B, C, D)
    return y


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *given: Tensor) -> Tensor:
        inputs = [v.contiguous() for v in given]
        y, kept = forward(*(v.numpy() for v in inputs))
        ctx.save_for_backward(*inputs, torch.from_numpy(kept))
        return torch.from_numpy(y)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor, ...]:
        return tuple(map(torch.from_numpy, backward(*(v.numpy() for v in (*ctx.saved_tensors, dy.contiguous())))))


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
