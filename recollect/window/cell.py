"""The search as the coordinator knows planners: from a cell's records to the next specs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.store import WINDOW, Record, Tells
from recollect.window.reading import Reading
from recollect.window.search import Ask, Search


class Cell(Protocol):
    """A planner that serves one cell, and knows which runs of the cell are its own."""

    @property
    def spec(self) -> RunSpec:
        """A run of the cell, which stands for all."""

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """The next runs, most wanted first."""

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs there are, finished or under way."""

    def most(self, finished: Sequence[Record]) -> int:
        """How many there may be in the end."""

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """The finished runs that it rests on, whoever asked for them."""

    def resumed(self, stopped: Sequence[RunSpec], finished: Sequence[Record]) -> list[RunSpec]:
        """Of runs that were stopped half-way those that are worth going on with."""

    def tells(self, spec: RunSpec) -> Tells:
        """What a run of the cell tells of."""


@dataclass(frozen=True)
class CellSearch:
    """A planner for the cell of a spec; offers `ahead` runs at a time, as many as can be under way.

    Runs with a seed that the search keeps for others are none of its own: it neither counts nor reads them.
    """

    spec: RunSpec
    search: Search
    ahead: int = 1

    def __post_init__(self) -> None:
        stop = self.spec.train.stop_accuracy
        if stop is not None and stop < self.search.threshold:
            raise BadInput(
                f"window: no run can reach the threshold {self.search.threshold:g}, as it stops at accuracy {stop:g}; "
                "raise train.stop_accuracy or lower the threshold"
            )

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """The next runs, most wanted first; runs that raised or were lost are spent, and tell nothing."""
        own = [record for record in finished if self.owns(record.spec, record.cell)]
        asked = [Ask(spec.train.lr, spec.seed) for spec in under_way if self.owns(spec)]
        lost = [Ask(run.spec.train.lr, run.spec.seed) for run in own if not run.is_done]
        wanted = self.search.next(readings(own, self.cell), asked, lost, self.ahead)
        return [self.spec.at(ask.lr, ask.seed) for ask in wanted]

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs of the cell there are in the range, finished or under way."""
        own = [record.spec for record in finished if self.owns(record.spec, record.cell)]
        return sum(self.search.holds(spec.train.lr) for spec in [*own, *filter(self.owns, under_way)])

    def most(self, finished: Sequence[Record]) -> int:
        """How many there may be in the end."""
        return max(self.search.max_runs, self.spent(finished, []))

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """The finished runs in the range, whoever asked for them."""
        done = [record for record in finished if record.is_done and self.search.holds(record.spec.train.lr)]
        return [record for record in done if self.owns(record.spec, record.cell)]

    def resumed(self, stopped: Sequence[RunSpec], finished: Sequence[Record]) -> list[RunSpec]:
        """Those in the range, as far as there is room for them."""
        room = self.search.max_runs - self.spent(finished, [])
        return [spec for spec in stopped if self.owns(spec) and self.search.holds(spec.train.lr)][: max(0, room)]

    def tells(self, spec: RunSpec) -> Tells:
        """Of the window: the best of its runs was chosen for being good."""
        return WINDOW

    def owns(self, spec: RunSpec, cell: str | None = None) -> bool:
        """Whether a run, whose cell may be known already, is of this cell and its seed is not kept for others."""
        return spec.seed not in self.search.kept and (cell or spec.cell) == self.cell

    @cached_property
    def cell(self) -> str:
        """The cell's name, hashed once."""
        return self.spec.cell


@dataclass(frozen=True)
class Searches:
    """A planner for several cells, `at_once` runs in all: the cell with the fewest runs is always served next.

    `begun` are runs that an earlier search was stopped in; they come first, so that what they did is not lost.
    """

    cells: tuple[Cell, ...]
    at_once: int = 1
    begun: tuple[RunSpec, ...] = ()

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """As many runs as there is room for, most wanted first."""
        room = max(1, self.at_once - len(under_way))
        known = {record.id for record in finished} | {spec.id for spec in under_way}
        asked = [*under_way, *[spec for spec in self.begun if spec.id not in known][:room]]
        waiting = list(self.cells)
        while waiting and len(asked) < len(under_way) + room:
            cell = min(waiting, key=lambda cell: cell.spent(finished, asked))
            if found := cell.next(finished, asked):
                asked.append(found[0])
            else:
                waiting.remove(cell)
        return asked[len(under_way) :]


def readings(records: Iterable[Record], cell: str) -> list[Reading]:
    """What the finished runs of a cell tell, in the order given."""
    return [_reading(record) for record in records if record.cell == cell and record.is_done]


def _reading(record: Record) -> Reading:
    assert record.result is not None
    return Reading(
        lr=record.spec.train.lr,
        seed=record.spec.seed,
        accuracy=float(record.result["validation_accuracy"] or 0.0),
        loss=record.result["validation_loss"],
        first_loss=record.first_loss,
    )
