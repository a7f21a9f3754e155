"""The delta rule on a state that fades per channel.

    S'_t = e^{g_t} ⊙ S_{t-1}   (K, P),      S_t = S'_t + β_t k_t (v_t - S'_tᵀ k_t)ᵀ,      o_t = S_tᵀ q_t,   g <= 0

This is `ops.dplr` that writes with β k and reads with k; an op of its own because other people's kernels want β by
itself. q, k and g are (B, H, L, K), v (B, H, L, P), β (B, H, L). All forms return o (B, H, L, P), or its rows `at`
(B, H, Q, P); the loop has no chunks.
"""

from collections.abc import Callable

from torch import Tensor

from recollect.ops.dplr import dplr_loop, dplr_matrix, dplr_numba, dplr_torch


def _by(dplr: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The rule by a form of the general one."""

    def kda(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, g: Tensor, chunk: int, at: Tensor | None = None) -> Tensor:
        return dplr(q, beta.unsqueeze(-1) * k, v, g, k, None, chunk, at)

    return kda


def kda_matrix(q: Tensor, k: Tensor, beta: Tensor, g: Tensor) -> Tensor:
    """The matrix (B, H, L, L) that takes v to o."""
    return dplr_matrix(q, beta.unsqueeze(-1) * k, g, k, None)


kda_loop, kda_torch, kda_numba = _by(dplr_loop), _by(dplr_torch), _by(dplr_numba)
