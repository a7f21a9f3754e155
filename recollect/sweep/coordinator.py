"""The coordinator: planner -> submit -> events -> store. It alone writes the store."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import Any

from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Looked, Lost, Point, Progressed, Started
from recollect.spec.files import CHECKPOINT
from recollect.spec.watch import Watch
from recollect.store import DONE, Record, Store
from recollect.sweep.executors import Executor, make_job
from recollect.sweep.planners import Planner

RETRIES = 2
"""How often a lost run is tried again before it is recorded as lost; a later sweep tries it anew."""

Listener = Callable[[Event], None]
"""Is told all that happens to runs, in order, after the store was; a run's first event, `Started`, has its spec."""


def sweep(
    planner: Planner,
    executor: Executor,
    store: Store,
    listen: Listener | Sequence[Listener] = (),
    *,
    retries: int = RETRIES,
    watch: Watch | None = None,
) -> None:
    """Run what the planner asks for, while one listens or several do, then close the executor.

    Finished runs are never done again, half-done ones go on, lost ones are tried again. However it ends, the store is
    consistent and the same sweep can be started anew. Finished runs that lack looks which a `watch` asks for are
    trained again: their records stay, and what was seen is kept where they end as they did.
    """
    with closing(executor), store.writing():
        store.release()
        try:
            listeners = [listen] if callable(listen) else listen
            Coordinator(planner, executor, store, listeners, retries, watch).run()
        finally:
            executor.close()  # before the lock goes: the next coordinator meets no worker of ours
            store.release()


class Coordinator:
    """One loop for fixed grids and adaptive planners."""

    def __init__(
        self,
        planner: Planner,
        executor: Executor,
        store: Store,
        listeners: Sequence[Listener] = (),
        retries: int = RETRIES,
        watch: Watch | None = None,
    ) -> None:
        self.planner, self.executor, self.store = planner, executor, store
        self.listeners, self.retries, self.watch = listeners, retries, watch
        done = {record.id: record for record in store.records(status=DONE)}
        unseen = lacking(watch, store, done.values())
        self.finished: dict[str, Record] = {run: record for run, record in done.items() if run not in unseen}
        self.once_more = {run: Again() for run in unseen}
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
        if self.watch is not None and 0 not in self.store.looked(self.watch.mark).get(spec.id, ()):
            (folder / CHECKPOINT).unlink(missing_ok=True)  # nobody has looked at what came before it
        self.store.add([spec])
        self.again = [other for other in self.again if other is not spec]
        self.under_way[spec.id] = spec
        self.executor.submit(make_job(spec, folder, self.watch))

    def hear(self, event: Event) -> None:
        """Write an event down; a lost run is tried again before it is given up."""
        if event.run in self.once_more:
            event = self.once_more[event.run].hear(self.store, event)
        else:
            write(self.store, event)
        if isinstance(event, Started):
            event = replace(event, spec=self.under_way[event.run])
        if isinstance(event, Done | Failed | Lost):
            spec = self.under_way.pop(event.run)
            if isinstance(event, Lost) and self.losses[event.run] < self.retries:
                self.losses[event.run] += 1
                if event.run not in self.once_more:
                    self.store.fail(event.run, event.reason, "pending")
                self.again.append(spec)
            else:
                record = self.store.record(event.run)
                assert record is not None
                self.finished[event.run] = record
        for listen in self.listeners:
            listen(event)


class Again:
    """A finished run that is trained again for what there is to see: its record stays as it is."""

    def __init__(self) -> None:
        self.seen: list[Looked] = []

    def hear(self, store: Store, event: Event) -> Event:
        """Keep what was seen where the run ends as it did; else it is a failure, and nothing is kept."""
        match event:
            case Started():
                self.seen.clear()
            case Looked():
                self.seen.append(event)
            case Done(run, result, _):
                (store.folder(run) / CHECKPOINT).unlink(missing_ok=True)
                if other := difference(store, run, result):
                    return Failed(run, f"trained again to look inside, it ended otherwise: {other}; nothing is kept")
                for look in self.seen:
                    write(store, look)
        return event


def difference(store: Store, run: str, result: dict[str, Any]) -> str:
    """The first value in which a result differs from the stored one; empty where none does."""
    record = store.record(run)
    assert record is not None
    before = record.result or {}
    for name, value in result.items():
        if before.get(name) != value:
            return f"another {name}" if name == "curves" else f"{name} {before.get(name)} before, {value} now"
    return ""


def lacking(watch: Watch | None, store: Store, done: Iterable[Record]) -> set[str]:
    """Of finished runs those that were not looked at as asked."""
    if watch is None:
        return set()
    seen = store.looked(watch.mark)
    ended = {record.id: (record.spec.train.steps, (record.result or {})["steps"]) for record in done}
    return {run for run, steps in ended.items() if watch.lacks(*steps, seen.get(run, ()))}


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
        case Looked(run, step, values):
            store.look(run, step, values)
        case Progressed():
            pass
