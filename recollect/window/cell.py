"""The search as the coordinator knows planners: from a cell's records to the next specs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window.reading import Reading
from recollect.window.search import Ask, Search


@dataclass(frozen=True)
class CellSearch:
    """A planner for the cell of a spec; offers `ahead` runs at a time, as many as can be under way."""

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
        cell = self.spec.cell
        asked = [Ask(spec.train.lr, spec.seed) for spec in under_way if spec.cell == cell]
        lost = [Ask(run.spec.train.lr, run.spec.seed) for run in finished if run.cell == cell and not run.is_done]
        wanted = self.search.next(readings(finished, cell), asked, lost, self.ahead)
        return [self.spec.at(ask.lr, ask.seed) for ask in wanted]

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs of the cell there are in the range, finished or under way."""
        runs = [record.spec for record in finished if record.cell == self.spec.cell]
        runs += [spec for spec in under_way if spec.cell == self.spec.cell]
        return sum(self.search.holds(spec.train.lr) for spec in runs)


@dataclass(frozen=True)
class Searches:
    """A planner for several cells, `at_once` runs in all: the cell with the fewest runs is always served next.

    `begun` are runs that an earlier search was stopped in; they come first, so that what they did is not lost.
    """

    cells: tuple[CellSearch, ...]
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
