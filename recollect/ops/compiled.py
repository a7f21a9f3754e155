"""What the compiled forms share: an exponential that vectorises, flags, a sum over rows, the number of threads."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numba
import numpy as np
import torch
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Compiled: TypeAlias = Callable[..., None]
ONE = np.float32(1)  # keeps single precision single, and double double

# Multiply and add may fuse; sums may run in lanes; zeros have no sign. No flag supposes numbers to be finite, and what
# they change depends on the shapes alone, not on the threads.
FUSED, LANES, ASSOCIATIVE = {"contract"}, {"contract", "reassoc"}, {"reassoc", "contract", "nsz"}

LOWEST, HIGHEST = np.float32(-88), np.float32(88.8)
LOG2E, LN2, LN2_REST = np.float32(1 / math.log(2)), np.float32(0.693359375), np.float32(math.log(2) - 0.693359375)
SHIFT = np.float32(1.5 * 2**23 + 127)
TAYLOR = tuple(np.float32(1 / math.factorial(n)) for n in range(8))


def exp(x: Any) -> Any:
    """exp(x) inside kernels: the library's in double precision, one that vectorises in single precision."""
    return math.exp(x)


@overload(exp, jit_options={"fastmath": FUSED})
def _exp_of(x: Any) -> Any:
    return _exp32 if x == types.float32 else exp


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


@njit(cache=True)
def sum_rows(x: Array) -> Array:
    """The sum over the first axis, row after row whatever the number of threads."""
    total: Array = np.zeros_like(x[0])
    for b in range(x.shape[0]):
        total += x[b]
    return total


def threaded(serial: Compiled, parallel: Compiled) -> Compiled:
    """The one of the two for torch's number of threads, which Numba's is made to follow.

    With one thread Numba's pool is never started. When it starts, it sets OpenMP's number of threads and, through it,
    torch's: that is put back.
    """
    threads = torch.get_num_threads()
    if threads == 1:
        return serial
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    return parallel
