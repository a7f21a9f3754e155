"""WKV-4, RWKV's weighted average of values, per channel:

    y_t = [Σ_{i<t} e^{-(t-1-i) w + k_i} v_i + e^{u + k_t} v_t] / [Σ_{i<t} e^{-(t-1-i) w + k_i} + e^{u + k_t}]

The loop keeps numerator and denominator divided by e^m, m the largest exponent so far. The fast forms keep instead
their ratio c, the average so far, and ℓ, the logarithm of the denominator: every step is then a convex combination,

    y_t = c + σ(u + k_t - ℓ)(v_t - c);   c <- c + σ(k_t - ℓ + w)(v_t - c);   ℓ <- log(e^{ℓ - w} + e^{k_t}),

in which nothing can overflow, and neither can its gradient.
"""

import torch
from torch import Tensor


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


def wkv(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
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
