"""A cell by search: first its window, then a study's seeds at the best learning rate that the search found.

The search's runs, each with a seed of its own, tell of the window alone: the best of them was chosen for being good.
What the cell reaches is told by the seeds that are added at its rate, and by them alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.spec import RunSpec
from recollect.store import ACCURACY, WINDOW, Record, Tells
from recollect.window.cell import CellSearch, readings
from recollect.window.measure import Window, measure
from recollect.window.reading import Reading
from recollect.window.search import Search

USUAL, MOST, TOLERANCE = 12, 20, 0.3
"""Runs of a search in a study, as many where an edge is unclear, and the decades within which an edge is clear."""


LONG, FINE = 24, 0.15
"""Runs of a search that is to tell two windows apart, and the decades within which an edge is then clear."""


@dataclass(frozen=True)
class TunedCell:
    """A planner for one cell; its search keeps the seeds for what comes after it."""

    first: CellSearch
    seeds: tuple[int, ...]

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        seeds: Sequence[int],
        span: tuple[float, float],
        most: int = MOST,
        tolerance: float = TOLERANCE,
    ) -> "TunedCell":
        """The cell of a spec, searched between two learning rates with at most so many runs."""
        search = Search(*span, max_runs=most, tolerance=tolerance, usual=USUAL, kept=frozenset(seeds))
        return cls(CellSearch(spec, search), tuple(seeds))

    @property
    def spec(self) -> RunSpec:
        """A run of the cell, which stands for all."""
        return self.first.spec

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """The search's next runs; once it is over, the seeds at the best rate."""
        if wanted := self.first.next(finished, under_way):
            return wanted
        if any(map(self.first.owns, under_way)):
            return []
        asked = {record.id for record in finished} | {spec.id for spec in under_way}
        return [spec for run, spec in self.last(finished).items() if run not in asked]

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs there are, of the search and after it."""
        asked = {record.id for record in finished} | {spec.id for spec in under_way}
        return self.first.spent(finished, under_way) + len(asked & self.last(finished).keys())

    def most(self, finished: Sequence[Record]) -> int:
        """How many there may be in the end."""
        return self.first.most(finished) + len(self.seeds)

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """The finished runs of the search, and those after it."""
        last = self.last(finished)
        return [*self.first.known(finished), *(run for run in finished if run.is_done and run.id in last)]

    def resumed(self, stopped: Sequence[RunSpec], finished: Sequence[Record]) -> list[RunSpec]:
        """Those of the search; what comes after it is asked for again in any case."""
        return self.first.resumed(stopped, finished)

    def tells(self, spec: RunSpec) -> Tells:
        """The search's runs of the window, the others of the accuracy."""
        return ACCURACY if spec.seed in self.seeds else WINDOW

    def found(self, finished: Sequence[Record]) -> Window | None:
        """The window as far as the search has come; None before its first run has ended."""
        seen = tuple(readings(self.first.known(finished), self.first.cell))
        return _found(self.first.search, seen) if seen else None

    def is_searched(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> bool:
        """Whether the search is over."""
        return not self.first.next(finished, under_way) and not any(map(self.first.owns, under_way))

    def last(self, finished: Sequence[Record]) -> Mapping[str, RunSpec]:
        """The runs that tell of the accuracy, as far as the search has come; none before its first run has ended."""
        found = self.found(finished)
        return {} if found is None else _last(self.spec, found.best_lr, self.seeds)


@lru_cache(maxsize=512)
def _found(search: Search, seen: tuple[Reading, ...]) -> Window:
    return measure(seen, steps=1, threshold=search.threshold, low=search.low, high=search.high)


@lru_cache(maxsize=512)
def _last(spec: RunSpec, lr: float, seeds: tuple[int, ...]) -> Mapping[str, RunSpec]:
    """By their ids."""
    return {run.id: run for run in (spec.at(lr, seed) for seed in seeds)}
