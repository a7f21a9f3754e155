"""fla's plain Based, around the weights of ours."""

from collections.abc import Callable

import torch
from torch import Tensor

from recollect.mixers.based import Based
from recollect.mixers.parts import join_heads, split_heads
from tests.support.oracles.fla import load_naive


def based_parallel(mixer: Based) -> Callable[[Tensor], Tensor]:
    """All pairs at once, with the oracle's own normalisation: 1e-6 is added to the sum of the weights."""
    return _around(mixer, load_naive("based").naive_parallel_based)


def based_exact(mixer: Based) -> Callable[[Tensor], Tensor]:
    """All pairs at once, the sum of the weights taken as the image of a column of ones, nothing added to it."""
    naive = load_naive("based").naive_parallel_based

    def core(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        sums: Tensor = naive(q, k, torch.ones_like(v[..., :1]), use_norm=False)
        y: Tensor = naive(q, k, v, use_norm=False) / sums
        return y

    return _around(mixer, core)


def based_chunks(mixer: Based, chunk: int) -> Callable[[Tensor], Tensor]:
    """Chunks with a state between them; the length must be a multiple."""
    naive = load_naive("based").naive_chunk_based
    return _around(mixer, lambda q, k, v: naive(q, k, v, chunk_size=chunk))


def _around(mixer: Based, core: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        q, k, v = (split_heads(p(x), mixer.n_heads) for p in (mixer.q_proj, mixer.k_proj, mixer.v_proj))
        out: Tensor = mixer.out_proj(join_heads(core(q, k, v)))
        return out

    return run
