"""Cells with a known window, to prove the search on.

The truth of such a cell is its success curve, and its edges are the outermost x at which that curve crosses 1/2. They
are found here by bisection on the curve itself; nothing is shared with the posterior.
"""

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from recollect.window.reading import Reading
from recollect.window.search import Ask, Search


@dataclass(frozen=True)
class Truth:
    """A success curve: two logistic sides, perhaps a hole in which nothing succeeds, all in log10 lr; and its top."""

    name: str
    a: float
    b: float
    u: float
    v: float
    hole: tuple[float, float] | None = None
    top: float = 1.0

    def probability(self, x: float) -> float:
        """The share of seeds that succeed at x."""
        if self.hole is not None and self.hole[0] < x < self.hole[1]:
            return 0.0
        return self.top / ((1 + math.exp((self.a - x) / self.u)) * (1 + math.exp((x - self.b) / self.v)))

    def edges(self) -> tuple[float, float]:
        """The outermost crossings of 1/2."""
        inside = [float(x) for x in np.linspace(self.a, self.b, 999) if self.probability(x) >= 0.5]
        return self._cross(self.a - 1, inside[0]), self._cross(self.b + 1, inside[-1])

    def _cross(self, outside: float, inside: float) -> float:
        for _ in range(60):
            middle = (outside + inside) / 2
            if self.probability(middle) < 0.5:
                outside = middle
            else:
                inside = middle
        return inside

    def run(self, ask: Ask, world: int) -> Reading:
        """A run: whether it succeeds is a function of learning rate, seed and world, each world a new experiment."""
        text = f"{self.name}/{ask.lr:.6g}/{ask.seed}/{world}"
        draw = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") / 2**64
        return Reading(ask.lr, ask.seed, float(draw < self.probability(math.log10(ask.lr))))


SHARP, GENTLE = 0.03, 0.1
TRUTHS = (
    Truth("narrow, sharp", -2.637, -2.327, SHARP, SHARP),
    Truth("narrow, gentle", -3.418, -3.041, GENTLE, GENTLE),
    Truth("middle, sharp", -3.871, -3.043, SHARP, SHARP),
    Truth("middle, gentle", -2.534, -1.619, GENTLE, GENTLE),
    Truth("wide, sharp", -4.263, -2.693, SHARP, SHARP),
    Truth("wide, gentle", -3.787, -2.157, GENTLE, GENTLE),
    Truth("widest, sharp left, gentle right", -4.117, -1.647, SHARP, GENTLE),
    Truth("with a hole", -4.043, -1.943, SHARP, SHARP, hole=(-3.158, -2.707)),
)
"""The cells of the proof: fixed before the search was tuned, edges off every lattice, looked for from 1e-5 to 1e-1."""

PATCHY = tuple(Truth(f"top {top:g}", -3.76, -2.26, 0.05, 0.05, top=top) for top in (0.85, 0.75))
"""Cells in which seeds fail all over the window."""


def run_search(truth: Truth, search: Search, world: int, at_once: int = 1) -> list[Reading]:
    """A whole search with `at_once` runs under way, of which the oldest always ends first."""
    seen: list[Reading] = []
    under_way: list[Ask] = []
    while True:
        under_way += search.next(seen, under_way, count=at_once - len(under_way))
        if not under_way:
            return seen
        seen.append(truth.run(under_way.pop(0), world))


def run_even_grid(truth: Truth, search: Search, size: int, world: int) -> list[Reading]:
    """An even grid over the range of the search, one new seed at each learning rate."""
    lrs = np.geomspace(search.low, search.high, size)
    return [truth.run(Ask(float(lr), seed), world) for seed, lr in enumerate(lrs)]
