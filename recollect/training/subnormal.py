"""While a model trains, numbers below 1e-38 count as zero: arithmetic with them is up to a hundred times slower.

The states of a recurrence that forgets fall through that range, and gradients with them. The processor has the switch
in every thread by itself, and a thread inherits it from the one that starts it. So it is set in the thread that trains
and in those that torch, or Numba, which shares them, has started before.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import torch

BITS = 2**20  # of a subnormal number in single precision; written as 1e-40 it might be flushed already
SHARE = 2**15
"""Numbers that torch gives to one thread at least."""


@contextmanager
def flushed(threads: int) -> Iterator[None]:
    """Subnormal numbers are zero in this thread and in torch's others, and afterwards as before."""
    before = flushes()
    in_every_thread(threads, lambda: torch.set_flush_denormal(True))
    try:
        yield
    finally:
        in_every_thread(threads, lambda: torch.set_flush_denormal(before))


def flushes(threads: int = 1) -> bool:
    """Whether so many threads of torch make zero of subnormal numbers: tried, not presumed."""
    halves = torch.full((threads * SHARE,), BITS, dtype=torch.int32).view(torch.float32).mul_(0.5)
    return not halves.view(torch.int32).any()


def in_every_thread(threads: int, call: Callable[[], object]) -> None:
    """Call it here, and in torch's other threads where they are GNU OpenMP's."""
    call()
    if threads > 1 and sys.platform == "linux":
        with suppress(OSError):  # another OpenMP: `flushes` tells
            pool = ctypes.CDLL("libgomp.so.1")
            pool.GOMP_parallel(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: call()), None, threads, 0)
