"""What a step could take on this processor: its matrix products and its scan, nothing else.

The bound is the time of every matrix product that the step calls, each timed alone with its shapes and strides, plus,
for Mamba's scan, three times the forward of a fixed recurrence whose numbers stay in the cache. It is measured in the
step's own process, in turn with it. Copies, norms, convolutions, FFTs and other recurrences count as nothing.
"""

import time
from collections import Counter
from typing import Any

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

PRODUCTS = {"mm": torch.mm, "addmm": torch.mm, "addmm_": torch.mm, "bmm": torch.bmm, "baddbmm": torch.bmm}
REPEATS = 5
STATES, CHANNELS, TOKENS = 16, 32, 64
Layout = tuple[tuple[int, ...], tuple[int, ...]]
Floats = NDArray[np.float32]


class Products(TorchDispatchMode):
    """Collects the matrix products of whatever runs inside: kind, and size and stride of both factors."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[tuple[str, Layout, Layout]] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if name in PRODUCTS:
            one, other = (layout(factor) for factor in args[-2:])
            self.seen[name, one, other] += 1
        return func(*args, **(kwargs or {}))


def layout(factor: Tensor) -> Layout:
    """How a factor lies in memory."""
    return tuple(factor.shape), tuple(factor.stride())


def bound(products: Counter[tuple[str, Layout, Layout]], updates: int) -> float:
    """Seconds of these products and of so many updates of a state."""
    total = 0.0
    for (name, one, other), count in products.items():
        factors = [torch.empty_strided(*how).normal_() for how in (one, other)]
        total += count * least(lambda name=name, factors=factors: PRODUCTS[name](*factors))
    return total + 3 * updates * (update_seconds() if updates else 0.0)


def least(call: Any) -> float:
    """The shortest of a few times, of the processor."""
    found = []
    for _ in range(REPEATS + 1):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found[1:])


def update_seconds() -> float:
    """Of one state in the fixed recurrence."""
    rng = np.random.default_rng(0)
    dt, x, y = (rng.random((TOKENS, CHANNELS), np.float32) for _ in range(3))
    A, h = -rng.random((CHANNELS, STATES), np.float32), np.zeros((CHANNELS, STATES), np.float32)
    B, C = (rng.random((TOKENS, STATES), np.float32) for _ in range(2))
    rounds = 50

    def many() -> None:
        for _ in range(rounds):
            recurrence(dt, x, A, B, C, h, y)

    return least(many) / (rounds * TOKENS * CHANNELS * STATES)


@njit(fastmath=True)
def recurrence(dt: Floats, x: Floats, A: Floats, B: Floats, C: Floats, h: Floats, y: Floats) -> None:
    """h = exp(dt A) h + dt x B, y = h C, the states innermost; never the package's own scan, so that it stays."""
    for t in range(TOKENS):
        for c in range(CHANNELS):
            total = np.float32(0)
            for n in range(STATES):
                z = max(dt[t, c] * A[c, n] * np.float32(1.442695), np.float32(-126))
                k = np.int32(z - np.float32(0.5))
                r = (z - np.float32(k)) * np.float32(0.6931472)
                e = np.float32(1 / 120) * r + np.float32(1 / 24)
                e = ((e * r + np.float32(1 / 6)) * r + np.float32(0.5)) * r * r + r + np.float32(1)
                e *= np.int32((k + 127) << 23).view(np.float32)
                h[c, n] = e * h[c, n] + dt[t, c] * x[t, c] * B[t, n]
                total += h[c, n] * C[t, n]
            y[t, c] = total
