"""The matrix memory of the LSTM: exponential gates, a sum of keys to divide by, and a running maximum m for both.

    C_t = f_t C_{t-1} + i_t k_t v_tᵀ   (K, P),    n_t = f_t n_{t-1} + i_t k_t,    h_t = C_tᵀ q_t / max(|n_t · q_t|, 1)

Kept are C e^{-m} and n e^{-m}, m_t = max(log f_t + m_{t-1}, log i_t), m_0 = 0; the divisor then is
max(|n · q|, e^{-m}) + ε. Within a chunk, with s the sum of log f since its start and a = log i - s, the largest of m_0
and a_1..a_i is M_i = m_i - s_i, and pair (i, j) weighs e^{a_j - M_i} <= 1. No gradient goes through m, which divides
out but for ε.

q and k are (B, H, L, K), v (B, H, L, P), log i and log f (B, H, L). All forms return h (B, H, L, P), or its rows `at`.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.precision import in_full
from recollect.ops.ssd import cut, join, take

EPSILON = 1e-6


@in_full
def mlstm_loop(
    q: Tensor, k: Tensor, v: Tensor, log_i: Tensor, log_f: Tensor, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The judge: one token at a time."""
    C, n = v.new_zeros(*k.shape[:2], k.shape[-1], v.shape[-1]), torch.zeros_like(k[:, :, 0])
    m, rows = torch.zeros_like(log_i[:, :, 0]), []
    for t in range(k.shape[2]):
        before, m = m, torch.maximum(log_f[:, :, t] + m, log_i[:, :, t]).detach()
        forget, write = (log_f[:, :, t] + before - m).exp().unsqueeze(-1), (log_i[:, :, t] - m).exp().unsqueeze(-1)
        C = forget.unsqueeze(-1) * C + (write * k[:, :, t]).unsqueeze(-1) * v[:, :, t, None]
        n = forget * n + write * k[:, :, t]
        both = torch.cat((C, n.unsqueeze(-1)), dim=-1)  # (B, H, K, P + 1)
        rows.append(divide((q[:, :, t, :, None] * both).sum(-2), m))
    return take(torch.stack(rows, dim=2), at)


@in_full
def mlstm_torch(
    q: Tensor, k: Tensor, v: Tensor, log_i: Tensor, log_f: Tensor, chunk: int, at: Tensor | None = None
) -> Tensor:
    """The same in chunks of matrix products; a column of ones beside v gathers n."""
    state: Tensor | None = None
    start, rows = torch.zeros_like(log_i[:, :, :1]), []
    pieces = (cut(part, chunk) for part in (q, k, F.pad(v, (0, 1), value=1.0), log_i, log_f))
    for q_i, k_i, v_i, i, f in zip(*pieces, strict=True):
        a, m, M = _exponents(i, f, start)
        y = _weights(q_i, k_i, a, M) @ v_i
        rows.append(divide(y if state is None else y + (start - M).exp().unsqueeze(-1) * (q_i @ state), m))
        added = ((a - M[..., -1:]).exp().unsqueeze(-1) * k_i).mT @ v_i
        state = added if state is None else torch.addcmul(added, (start - M[..., -1:]).exp().unsqueeze(-1), state)
        start = m[..., -1:]
    return take(join(rows), at)


@in_full
def mlstm_matrix(q: Tensor, k: Tensor, log_i: Tensor, log_f: Tensor) -> Tensor:
    """The matrix (B, H, L, L) that takes v to h."""
    a, m, M = _exponents(log_i, log_f, torch.zeros_like(log_i[:, :, :1]))
    weights = _weights(q, k, a, M)
    return divide(torch.cat((weights, weights.sum(-1, keepdim=True)), dim=-1), m)


def divide(both: Tensor, m: Tensor) -> Tensor:
    """h, from C q and n · q side by side (..., P + 1), both times e^-m."""
    return both[..., :-1] / (torch.maximum(both[..., -1:].abs(), (-m).exp().unsqueeze(-1)) + EPSILON)


def _exponents(log_i: Tensor, log_f: Tensor, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """a, m without a gradient, and M = m - s, of a chunk before which m is `start`."""
    s = log_f.cumsum(-1)
    a = log_i - s
    m = (s + torch.maximum(a.cummax(-1).values, start)).detach()
    return a, m, m - s


def _weights(q: Tensor, k: Tensor, a: Tensor, M: Tensor) -> Tensor:
    """(q_i · k_j) e^{a_j - M_i} for j <= i."""
    i = torch.arange(a.shape[-1], device=a.device)
    return (q @ k.mT) * (a.unsqueeze(-2) - M.unsqueeze(-1)).masked_fill(i.unsqueeze(-1) < i, -torch.inf).exp()
