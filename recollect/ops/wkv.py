"""WKV-4, RWKV's weighted average of values, per channel:

    y_t = [Σ_{i<t} e^{-(t-1-i) w + k_i} v_i + e^{u + k_t} v_t] / [Σ_{i<t} e^{-(t-1-i) w + k_i} + e^{u + k_t}]

The loop keeps numerator and denominator divided by e^m, m the largest exponent so far. The fast forms keep instead
their ratio c, the average so far, and ℓ, the logarithm of the denominator: every step is then a convex combination,

    y_t = c + σ(u + k_t - ℓ)(v_t - c);   c <- c + σ(k_t - ℓ + w)(v_t - c);   ℓ <- log(e^{ℓ - w} + e^{k_t}),

in which nothing can overflow, and neither can its gradient.
"""

import numpy as np
import torch
from numba import njit, prange
from torch import Tensor

from recollect.ops.compiled import Array, add_rows, differentiable, exp, in_parallel, threaded


def wkv_loop(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The judge: one token at a time. w > 0 and u (D,), k and v (B, L, D)."""
    num, den = torch.zeros_like(v[:, 0]), torch.zeros_like(v[:, 0])
    m = torch.full_like(v[:, 0], -torch.inf)
    rows = []
    for t in range(k.shape[1]):
        top = torch.maximum(m, u + k[:, t])
        past, now = (m - top).exp(), (u + k[:, t] - top).exp()
        rows.append((past * num + now * v[:, t]) / (past * den + now))
        top = torch.maximum(m - w, k[:, t])
        past, now = (m - w - top).exp(), (k[:, t] - top).exp()
        num, den, m = past * num + now * v[:, t], past * den + now, top
    return torch.stack(rows, dim=1)


def wkv_torch(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same by a scan: the pairs (ℓ, c) of neighbouring runs of tokens are joined, log2(L) deep."""
    k, v = k.to(w.dtype), v.to(w.dtype)
    log_den, mean = _scan(k[:, :-1], v[:, :-1], w)  # after token t - 1, for t = 1..L-1
    share = torch.sigmoid(u + k[:, 1:] - log_den)
    return torch.cat((v[:, :1], torch.lerp(mean, v[:, 1:], share)), dim=1)


def wkv_weights(w: Tensor, u: Tensor, k: Tensor) -> Tensor:
    """The matrices M (B, D, L, L) with y = M v, one per channel; their rows sum to 1."""
    t = torch.arange(k.shape[1], device=k.device)
    distance = t.unsqueeze(-1) - t - 1  # t - 1 - i, -1 on the diagonal
    gain = torch.where(distance < 0, u.view(-1, 1, 1), -distance * w.view(-1, 1, 1))  # (D, L, L)
    scores = gain + k.transpose(1, 2).unsqueeze(-2)  # (B, D, L, L)
    return scores.masked_fill(distance < -1, -torch.inf).softmax(dim=-1)


def _scan(log_den: Tensor, mean: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """(ℓ, c) of all tokens up to each run, from (ℓ, c) of the runs (B, n, D) themselves; a run decays by w."""
    n = log_den.shape[1]
    if n < 2:
        return log_den, mean
    pairs = _join(log_den[:, 0 : n - 1 : 2], mean[:, 0 : n - 1 : 2], log_den[:, 1::2], mean[:, 1::2], w)
    odd = _scan(*pairs, 2 * w)
    past = odd[0][:, : (n - 1) // 2], odd[1][:, : (n - 1) // 2]
    even = _join(*past, log_den[:, 2::2], mean[:, 2::2], w)
    return _interleave(log_den[:, :1], odd[0], even[0]), _interleave(mean[:, :1], odd[1], even[1])


def _join(log_den1: Tensor, mean1: Tensor, log_den2: Tensor, mean2: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """A run, and the run after it over which the first decays by w."""
    past = log_den1 - w
    return torch.logaddexp(past, log_den2), torch.lerp(mean1, mean2, torch.sigmoid(log_den2 - past))


def _interleave(first: Tensor, odd: Tensor, even: Tensor) -> Tensor:
    """Rows 0, then 1, 3, 5, ... and 2, 4, 6, ... in turn."""
    paired = torch.stack((odd[:, : even.shape[1]], even), dim=2).flatten(1, 2)
    return torch.cat((first, paired, odd[:, even.shape[1] :]), dim=1)


def wkv_numba(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The same on a CPU, compiled, in float32 and float64.

    A row of the batch at a time; the channels of a token are the inner loop, which vectorises. ℓ is kept as (m, den)
    with ℓ = m + log den. Only the inputs are saved: the backward pass computes a row's two sigmoids and averages again,
    and with them needs products and sums alone. Gradients of w and u are summed over the batch in its order: the number
    of threads changes no bit.
    """
    forward, backward = threaded(_forward, _forward_parallel), threaded(_backward, _backward_parallel)
    return differentiable(forward, backward, k.to(w.dtype), v.to(w.dtype), w, u)


@njit(cache=True)
def _scratch(row: Array) -> tuple[Array, Array, Array]:
    """Room for what `_forward_row` keeps of a row."""
    return np.empty_like(row), np.empty_like(row), np.empty_like(row)


@njit(cache=True, error_model="numpy")
def _forward_row(w: Array, u: Array, k: Array, v: Array, y: Array, now: Array, kept: Array, mean: Array) -> None:
    """One row of the batch, (L, D): y, σ(u + k - ℓ), σ(k - ℓ + w) and c before every token."""
    one = w.dtype.type(1)
    m, den, c = np.full_like(w, -np.inf), np.zeros_like(w), np.zeros_like(w)
    for t in range(k.shape[0]):
        for i in range(k.shape[1]):
            change = v[t, i] - c[i]
            ahead = u[i] + k[t, i] - m[i]
            e = exp(-abs(ahead))
            past, new = (den[i] * e, one) if ahead > 0 else (den[i], e)
            share = new / (past + new)
            y[t, i] = c[i] + share * change
            now[t, i] = share
            mean[t, i] = c[i]
            ahead = k[t, i] - m[i] + w[i]
            e = exp(-abs(ahead))
            past, new = (den[i] * e, one) if ahead > 0 else (den[i], e)
            share = new / (past + new)
            kept[t, i] = share
            c[i] += share * change
            den[i] = past + new
            m[i] = k[t, i] if ahead > 0 else m[i] - w[i]


@njit(cache=True, error_model="numpy")
def _backward_row(
    v: Array, now: Array, kept: Array, mean: Array, grad: Array, grad_k: Array, grad_v: Array, sums: Array
) -> None:
    """The same row backwards; `sums` (4, D) starts at zero and ends with the gradients of w and u first."""
    one = v.dtype.type(1)
    grad_w, grad_u, grad_c, grad_l = sums[0], sums[1], sums[2], sums[3]
    # An array of steps: LLVM does not vectorise the inner loop of a range that counts down.
    for t in np.arange(v.shape[0])[::-1]:
        for i in range(v.shape[1]):
            change, g = v[t, i] - mean[t, i], grad[t, i]
            s, p = now[t, i], kept[t, i]
            first = g * change * s * (one - s)  # through u + k - ℓ
            later = grad_c[i] * change * p * (one - p)  # through k - ℓ + w
            grad_k[t, i] = first + later + grad_l[i] * p
            grad_v[t, i] = g * s + grad_c[i] * p
            decayed = grad_l[i] * (one - p) - later  # to ℓ - w
            grad_w[i] -= decayed
            grad_u[i] += first
            grad_l[i] = decayed - first
            grad_c[i] = grad_c[i] * (one - p) + g * (one - s)


@njit(cache=True)
def _forward(k: Array, v: Array, w: Array, u: Array, y: Array) -> None:
    for b in prange(k.shape[0]):
        _forward_row(w, u, k[b], v[b], y[b], *_scratch(k[b]))


@njit(cache=True)
def _backward(
    grad: Array, k: Array, v: Array, w: Array, u: Array, grad_k: Array, grad_v: Array, grad_w: Array, grad_u: Array
) -> None:
    sums = np.zeros((k.shape[0], 4, k.shape[2]), k.dtype)
    for b in prange(k.shape[0]):
        now, kept, mean = _scratch(k[b])
        _forward_row(w, u, k[b], v[b], grad_v[b], now, kept, mean)  # grad_v holds y until its own turn
        _backward_row(v[b], now, kept, mean, grad[b], grad_k[b], grad_v[b], sums[b])
    add_rows(grad_w, sums[:, 0])
    add_rows(grad_u, sums[:, 1])


_forward_parallel, _backward_parallel = in_parallel(_forward), in_parallel(_backward)
