"""Searches of several cells while the user watches: those of `recollect window`, and of a study by search."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recollect.cli.display.board import Board
from recollect.cli.display.watch import describe_case, watched
from recollect.spec import RunSpec
from recollect.spec.events import Event, Started
from recollect.store import DONE, NoStore, Record, Store
from recollect.studies import Case
from recollect.sweep import RETRIES, Listener, sweep
from recollect.sweep.executors import Executor
from recollect.window import Searches
from recollect.window.cell import Cell

Cells = Sequence[tuple[str, Cell]]
"""Cells under their labels."""


@dataclass(frozen=True)
class Searching:
    """Cells under their labels, and the study and scale that their runs belong to; `whole`: and no other runs do."""

    study: str
    scale: str
    cells: Cells
    whole: bool = False

    @cached_property
    def by_cell(self) -> Mapping[str, tuple[str, Cell]]:
        """Cell -> its label and planner."""
        return {cell.spec.cell: (label, cell) for label, cell in self.cells}

    def finished(self, store: Store) -> list[Record]:
        """All finished runs of the cells."""
        return [run for run in store.records(status=DONE) if run.cell in self.by_cell]

    def run(self, store: Store, executor: Executor, also: Sequence[Listener] = ()) -> int:
        """Run all searches to their ends, heard by others too; the number of runs that raised or were lost."""
        finished = self.finished(store)
        before, most = len(self._known(finished)), sum(cell.most(finished) for _, cell in self.cells)
        names: dict[str, str] = {}
        board = Board(names, before, RETRIES, total=most)
        at = f" at scale {self.scale}" if self.scale else ""
        cells = f"{len(self.cells)} cell{'s' * (len(self.cells) > 1)}"
        with watched(board, store, f"{self.study}{at}: at most {most} runs in {cells}, {before} done") as hear:
            self._link(store)
            planner = Searches(tuple(cell for _, cell in self.cells), executor.slots, self._begun(store, finished))
            sweep(planner, executor, store, [self._enrolling(store, names, hear), *also])
            self._link(store)
        return board.bad()

    def _known(self, finished: Sequence[Record]) -> list[Record]:
        return [run for _, cell in self.cells for run in cell.known(finished)]

    def _link(self, store: Store) -> None:
        """Say which runs the cells rest on; of a whole study also those that raised or were stopped, and no others."""
        runs = self._known(self.finished(store))
        if self.whole:
            linked = store.labels(self.study, self.scale)
            runs += [run for run in store.records(study=self.study) if run.id in linked and not run.is_done]
        runs = [run for run in runs if run.cell in self.by_cell]
        labels = {run.id: self.by_cell[run.cell][0] for run in runs}
        tells = {run.id: self.by_cell[run.cell][1].tells(run.spec) for run in runs}
        (store.enrol if self.whole else store.link)(self.study, self.scale, labels, tells)

    def _begun(self, store: Store, finished: Sequence[Record]) -> tuple[RunSpec, ...]:
        """The runs in which an earlier search was stopped."""
        runs = [run.spec for run in store.records(study=self.study) if run.status in ("pending", "running")]
        return tuple(spec for _, cell in self.cells for spec in cell.resumed(runs, finished))

    def _enrolling(self, store: Store, names: dict[str, str], hear: Listener) -> Listener:
        """Listen for another, but first give every run that starts a name and a place in the study."""

        def listen(event: Event) -> None:
            if isinstance(event, Started) and event.spec is not None and event.run not in names:
                label, cell = self.by_cell[event.spec.cell]
                names[event.run] = describe_case(Case(label, event.spec))
                store.link(self.study, self.scale, {event.run: label}, {event.run: cell.tells(event.spec)})
            hear(event)

        return listen


def stored(path: Path, searching: Searching) -> list[Record]:
    """The finished runs of all cells, from a store that need not exist."""
    try:
        store = Store(path)
    except NoStore:
        return []
    with closing(store):
        return searching.finished(store)
