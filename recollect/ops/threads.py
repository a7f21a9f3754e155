"""Numba's threads follow torch's."""

import numba
import torch


def numba_threads() -> int:
    """Torch's number of threads, which Numba's is made to follow.

    With one thread Numba's pool is never started. When it starts, it sets OpenMP's number of threads and, through it,
    torch's: that is put back.
    """
    threads = torch.get_num_threads()
    if threads > 1:
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
    return threads
