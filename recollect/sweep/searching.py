"""Searches of several cells, and the study that their runs belong to: `window`, `compare`, a study by search."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recollect.spec import RunSpec
from recollect.spec.events import Event, Started
from recollect.store import DONE, NoStore, Record, Store
from recollect.sweep.coordinator import Listener, sweep
from recollect.sweep.executors import Executor
from recollect.window import Searches
from recollect.window.cell import Cell

Cells = Sequence[tuple[str, Cell]]
"""Cells under their labels."""


@dataclass(frozen=True)
class Searching:
    """Cells under their labels, and the study and scale that their runs belong to; `whole`: and no other runs do.

    `every` are all cells of the study, in its order, where only some are searched now.
    """

    study: str
    scale: str
    cells: Cells
    whole: bool = False
    every: Cells = ()

    @cached_property
    def by_cell(self) -> Mapping[str, tuple[str, Cell]]:
        """Cell -> its label and planner."""
        return {cell.spec.cell: (label, cell) for label, cell in self.every or self.cells}

    def finished(self, store: Store) -> list[Record]:
        """All finished runs of the cells."""
        return [run for run in store.records(status=DONE) if run.cell in self.by_cell]

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """Those on which the cells that are searched rest."""
        return [run for _, cell in self.cells for run in cell.known(finished)]

    def most(self, finished: Sequence[Record]) -> int:
        """How many runs there may be in the end."""
        return sum(cell.most(finished) for _, cell in self.cells)

    def run(self, store: Store, executor: Executor, listeners: Sequence[Listener] = ()) -> None:
        """Run all searches to their ends; every run that starts gets its place in the study before it is told of."""
        with store.writing():
            self._link(store)
            begun = self._begun(store, self.finished(store))
            planner = Searches(tuple(cell for _, cell in self.cells), executor.slots, begun)
            sweep(planner, executor, store, [self._enrolling(store), *listeners])
            self._link(store)

    def _link(self, store: Store) -> None:
        """Say which runs the cells rest on; of a whole study also those that raised or were stopped, and no others."""
        finished = self.finished(store)
        runs = [run for _, cell in self.by_cell.values() for run in cell.known(finished)]
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

    def _enrolling(self, store: Store) -> Listener:
        def listen(event: Event) -> None:
            if isinstance(event, Started) and event.spec is not None:
                label, cell = self.by_cell[event.spec.cell]
                store.link(self.study, self.scale, {event.run: label}, {event.run: cell.tells(event.spec)})

        return listen


def stored(path: Path, searching: Searching) -> list[Record]:
    """The finished runs of all cells, from a store that need not exist."""
    try:
        store = Store(path)
    except NoStore:
        return []
    with closing(store):
        return searching.finished(store)
