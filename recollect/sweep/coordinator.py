"""The coordinator: planner -> submit -> events -> store. It alone writes the store."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice

from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Lost, Point, Progressed, Started
from recollect.spec.files import CHECKPOINT
from recollect.store import DONE, Record, Store
from recollect.sweep.executors import Executor, make_job
from recollect.sweep.planners import Planner

RETRIES = 2
"""How often a lost run is tried again before it is recorded as lost; a later sweep tries it anew."""

Listener = Callable[[Event], None]


def sweep(
    planner: Planner, executor: Executor, store: Store, listen: Listener = lambda event: None, *, retries: int = RETRIES
) -> None:
    """Run what the planner asks for, then close the executor.

    Finished runs are never done again, half-done ones go on, lost ones are tried again. However it ends, the store is
    consistent and the same sweep can be started anew.
    """
    with closing(executor), store.writing():
        store.release()
        try:
            Coordinator(planner, executor, store, listen, retries).run()
        finally:
            executor.close()  # before the lock goes: the next coordinator meets no worker of ours
            store.release()


class Coordinator:
    """One loop for fixed grids and adaptive planners."""

    def __init__(
        self, planner: Planner, executor: Executor, store: Store, listen: Listener, retries: int = RETRIES
    ) -> None:
        self.planner, self.executor, self.store, self.listen, self.retries = planner, executor, store, listen, retries
        self.finished: dict[str, Record] = {record.id: record for record in store.records(status=DONE)}
        self.under_way: dict[str, RunSpec] = {}
        self.again: list[RunSpec] = []
        self.losses: Counter[str] = Counter()

    def run(self) -> None:
        """Until nothing is under way and the planner asks for nothing more."""
        while self.fill():
            for event in self.executor.events():
                self.hear(event)

    def fill(self) -> bool:
        """Submit while slots are free; whether anything is under way."""
        for spec in list(islice(self.wanted(), max(0, self.executor.slots - len(self.under_way)))):
            self.submit(spec)
        return bool(self.under_way)

    def wanted(self) -> Iterator[RunSpec]:
        """What to submit next: lost runs first, then what the planner asks for and is not known."""
        yield from self.again
        waiting = {spec.id for spec in self.again}
        for spec in self.planner.next(list(self.finished.values()), [*self.under_way.values(), *self.again]):
            if spec.id not in self.finished and spec.id not in self.under_way and spec.id not in waiting:
                yield spec

    def submit(self, spec: RunSpec) -> None:
        """Note a run and hand it over, without what a killed process left half-written."""
        folder = self.store.folder(spec.id)
        for file in folder.glob("*.tmp"):
            file.unlink(missing_ok=True)
        self.store.add([spec])
        self.again = [other for other in self.again if other is not spec]
        self.under_way[spec.id] = spec
        self.executor.submit(make_job(spec, folder))

    def hear(self, event: Event) -> None:
        """Write an event down; a lost run is tried again before it is given up."""
        write(self.store, event)
        if isinstance(event, Done | Failed | Lost):
            spec = self.under_way.pop(event.run)
            if isinstance(event, Lost) and self.losses[event.run] < self.retries:
                self.losses[event.run] += 1
                self.store.fail(event.run, event.reason, "pending")
                self.again.append(spec)
            else:
                record = self.store.record(event.run)
                assert record is not None
                self.finished[event.run] = record
        self.listen(event)


def write(store: Store, event: Event) -> None:
    """What an event means to the store."""
    match event:
        case Started(run, _, _, provenance):
            store.start(run, provenance)
        case Point(run, step, values):
            store.point(run, step, values)
        case Done(run, result, seconds):
            store.finish(run, result, seconds)
            (store.folder(run) / CHECKPOINT).unlink(missing_ok=True)
        case Failed(run, error):
            store.fail(run, error)
        case Lost(run, reason):
            store.fail(run, reason, "lost")
        case Progressed():
            pass
