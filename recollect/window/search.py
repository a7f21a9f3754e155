"""Find the window with few runs: after which runs does one know the edges best?

Pure: from what is finished and what is under way to what comes next. First, and until one succeeds, runs that fill the
range evenly; then always the learning rate whose run is expected to tell most about the two edges, a run under way
being counted as what is expected of it; at last, or once both edges are known well enough, runs inside the window that
look for holes. After its `usual` runs a search goes on for an edge only that is not known well enough, if some run
succeeded at all. Every run has a seed of its own, because an edge belongs to the average over seeds. No run is stopped
for being worse than others.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recollect.errors import BadInput
from recollect.spec.rates import PER_DECADE, on_lattice
from recollect.window.curve import FULL, Floats
from recollect.window.edges import Edges, edges
from recollect.window.holes import Hole, holes, outside
from recollect.window.measure import THRESHOLD
from recollect.window.posterior import Mesh, Posterior, after
from recollect.window.reading import ENOUGH, SLACK, Rate, Reading, in_range, middle_half, rates, widest_gap

START = 8
"""The first runs leave no stretch untested that is wider than the range divided by this."""

RESERVE = 8
"""This part of the runs is kept for the search for holes."""

HOLE = 0.25
"""A hole that is wider is found: inside the window, no stretch of so many decades is left untested."""

LIKELY, REPEATS = 0.8, 3
"""A run that fails where success is this likely is repeated with other seeds, up to this many runs."""

NARROWEST = 0.5
"""The narrowest range that is searched, in decades."""


class Ask(NamedTuple):
    """A run that is wanted, or under way, or lost."""

    lr: float
    seed: int


@dataclass(frozen=True)
class Search:
    """A search between two learning rates; `max_runs` counts every run of the cell in the range, also earlier ones.

    `usual` are the runs after which only an unclear edge is worth another (None: all are usual); seeds of others are
    `kept`, never drawn.
    """

    low: float = 1e-5
    high: float = 1e-1
    max_runs: int = 40
    tolerance: float = 0.1
    threshold: float = THRESHOLD
    first_seed: int = 0
    usual: int | None = None
    kept: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise BadInput(
                f"window: the learning rates must be 0 < low < high, both finite (got {self.low:g} and {self.high:g})"
            )
        if math.log10(self.high / self.low) < NARROWEST:
            raise BadInput(f"window: from {self.low:g} to {self.high:g} is less than half a decade; widen the range")
        if self.max_runs < 1:
            raise BadInput(f"window: max_runs must be >= 1 (got {self.max_runs})")
        if not self.tolerance > 0:
            raise BadInput(f"window: the tolerance must be > 0 decades (got {self.tolerance:g})")
        if self.first_seed < 0:
            raise BadInput(f"window: the first seed must be >= 0 (got {self.first_seed})")
        if not 0 < self.threshold <= 1:
            raise BadInput(f"window: the threshold must be an accuracy in (0, 1] (got {self.threshold:g})")

    @property
    def grid(self) -> Mesh:
        """The grid of the posterior."""
        return Mesh(math.log10(self.low), math.log10(self.high))

    @property
    def lattice(self) -> Floats:
        """log10 of the learning rates that may be asked for."""
        low, high = self.grid.low * PER_DECADE, self.grid.high * PER_DECADE
        return np.arange(math.ceil(low - SLACK), math.floor(high + SLACK) + 1) / PER_DECADE

    def holds(self, lr: float) -> bool:
        """Whether a learning rate lies in the range."""
        return in_range(lr, self.low, self.high)

    def next(
        self, finished: Sequence[Reading], under_way: Sequence[Ask] = (), lost: Sequence[Ask] = (), count: int = 1
    ) -> list[Ask]:
        """Up to `count` runs, most wanted first; none when the edges are known or the runs are spent."""
        seen = [reading for reading in finished if self.holds(reading.lr)]
        used = set(self.kept) | {run.seed for runs in (finished, under_way, lost) for run in runs}
        pending = [math.log10(ask.lr) for ask in under_way]
        out: list[Ask] = []
        while len(out) < count:
            left = self.max_runs - len(seen) - len(pending) - len(lost)
            x = self._place(seen, pending, left) if left > 0 else None
            if x is None:
                break
            seed = next(seed for seed in itertools.count(self.first_seed) if seed not in used)
            out.append(Ask(on_lattice(float(np.clip(x, self.lattice[0], self.lattice[-1]))), seed))
            pending.append(math.log10(out[-1].lr))
            used.add(seed)
        return out

    def _place(self, seen: Sequence[Reading], pending: Sequence[float], left: int) -> float | None:
        """Where the next run is to be, as log10 lr."""
        low, high = self.grid.low, self.grid.high
        found = rates(seen, self.threshold)
        start, end = widest_gap([*(reading.x for reading in seen), *pending], low, high)
        usual = min(self.usual or self.max_runs, self.max_runs)
        left -= self.max_runs - usual
        if not any(rate.solved for rate in found):
            return (start + end) / 2 if left > 0 else None
        if end - start > (high - low) / START * 1.01:
            return (start + end) / 2
        gone = holes(low, high, found)
        kept = outside(gone, seen)  # in the order in which they ended
        runs = tuple((run.x, run.accuracy >= self.threshold) for run in kept)
        posterior, known = after(self.grid, runs, FULL), edges(after(self.grid, runs))  # as it will be measured
        settled = self._settled(known)
        if settled or 0 < left <= usual // RESERVE:
            probe = self._probe(known, posterior, found, gone, pending) if left > 0 else None
            if settled or probe is not None:
                return probe
        return self._most_informative(posterior, pending)

    def _settled(self, known: Edges) -> bool:
        """Whether both edges are known within the tolerance, or known to lie outside of the range."""
        ends = (np.clip(spread.interval(), self.grid.low, self.grid.high) for spread in (known.lower, known.upper))
        return known.none < 0.5 and all(high - low <= self.tolerance for low, high in ends)

    def _probe(
        self, known: Edges, posterior: Posterior, found: Sequence[Rate], gone: Sequence[Hole], pending: Sequence[float]
    ) -> float | None:
        """Where the window may yet fail inside: a failure amid success, a middle with few runs, a wide gap."""
        lower, upper = max(known.lower.median, self.grid.low), min(known.upper.median, self.grid.high)
        tested = [*(rate.x for rate in found for _ in range(rate.total)), *pending]
        for x in (rate.x for rate in outside(gone, found) if not rate.solved and lower < rate.x < upper):
            repeats = sum(abs(other - x) < 0.5 / PER_DECADE for other in tested)
            if repeats < REPEATS and posterior.success(x) > LIKELY:
                return x
        start, end = middle_half(lower, upper)
        is_thin = sum(start <= x <= end for x in tested) < ENOUGH
        start, end = widest_gap(tested, *((start, end) if is_thin else (lower, upper)))
        return (start + end) / 2 if is_thin or end - start > HOLE else None

    def _most_informative(self, posterior: Posterior, pending: Sequence[float]) -> float:
        """The learning rate of the lattice whose run tells most about the edges, given what is under way."""
        for x in pending:
            p = posterior.success(x)
            posterior = posterior.updated(x, p, 1 - p)
        return float(self.lattice[posterior.information(self.lattice).argmax()])
