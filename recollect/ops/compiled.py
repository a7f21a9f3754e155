"""What the compiled forms share: an exponential that vectorises, flags, sums over rows, threads, gradients."""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeAlias

import numba
import numpy as np
import torch
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

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
def add_rows(total: Array, x: Array) -> None:
    """Adds x up over its first axis, row after row whatever the number of threads."""
    for b in range(x.shape[0]):
        total += x[b]


def in_parallel(serial: Any) -> Compiled:
    """The same kernel, with the rows of its `prange` dealt out to threads; its own name keeps it apart in the cache."""
    loop = serial.py_func
    twin = FunctionType(loop.__code__, loop.__globals__)
    twin.__qualname__ = twin.__name__ = f"{loop.__name__}_parallel"
    made: Compiled = njit(cache=True, parallel=True)(twin)
    return made


def threaded(serial: Compiled, parallel: Compiled) -> Compiled:
    """The one of the two for torch's number of threads, which Numba's is made to follow.

    With one thread Numba's pool is never started. When it starts, it sets OpenMP's number of threads and, through it,
    torch's: that is put back.
    """

    def run(*arrays: Any) -> None:
        threads = torch.get_num_threads()
        if threads == 1:
            return serial(*arrays)
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        return parallel(*arrays)

    return run


def differentiable(forward: Compiled, backward: Compiled, *inputs: Tensor) -> Tensor:
    """y, like the first input, as forward(*inputs, y) fills it; backward(dy, *inputs, *grads) fills their gradients.

    All arrays are contiguous. The gradients of inputs with fewer dimensions than y, its parameters, start at zero.
    """
    y: Tensor = _Passes.apply(forward, backward, *inputs)
    return y


class _Passes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forward: Compiled, backward: Compiled, *given: Tensor) -> Tensor:
        inputs = [m.contiguous() for m in given]
        ctx.save_for_backward(*inputs)
        ctx.fill = backward
        y = torch.empty_like(inputs[0])
        forward(*(m.numpy() for m in (*inputs, y)))
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        inputs = ctx.saved_tensors
        grads = [torch.empty_like(m) if m.dim() == dy.dim() else torch.zeros_like(m) for m in inputs]
        ctx.fill(*(m.numpy() for m in (dy.contiguous(), *inputs, *grads)))
        return None, None, *grads
