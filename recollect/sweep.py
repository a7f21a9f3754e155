"""The coordinator: planner -> submit -> events -> store. It alone writes the store."""

from collections.abc import Callable, Sequence
from typing import Protocol

from recollect.events import Done, Event, Failed, Point, Started
from recollect.executors import Executor, Job
from recollect.spec import RunSpec
from recollect.store import Record, Store, lock

Listener = Callable[[Event], None]


class Planner(Protocol):
    """Pure: from what is finished and what is under way to what comes next."""

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        """The next runs, most wanted first; empty when there is nothing to add."""
        ...


class Grid:
    """The simplest planner: a fixed list."""

    def __init__(self, specs: Sequence[RunSpec]) -> None:
        self.specs = list({spec.id: spec for spec in specs}.values())

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        known = {record.id for record in finished} | {spec.id for spec in under_way}
        return [spec for spec in self.specs if spec.id not in known]


def sweep(planner: Planner, executor: Executor, store: Store, listen: Listener = lambda event: None) -> None:
    """Run what the planner asks for; finished runs are never done again, half-done ones go on."""
    with lock(store.path):
        try:
            _coordinate(planner, executor, store, listen)
        finally:
            executor.close()


def _coordinate(planner: Planner, executor: Executor, store: Store, listen: Listener) -> None:
    done: dict[str, Record] = {record.id: record for record in store.records() if record.status == "done"}
    ended, under_way = dict(done), dict[str, RunSpec]()
    while True:
        wanted = planner.next(list(ended.values()), list(under_way.values()))
        for spec in wanted[: executor.slots - len(under_way)]:
            store.add([spec])
            under_way[spec.id] = spec
            executor.submit(Job(spec.id, spec.model_dump(mode="json"), str(store.folder(spec.id))))
        if not under_way:
            return
        for event in executor.events():
            write(store, event)
            listen(event)
            if isinstance(event, Done | Failed):
                del under_way[event.run]
                record = store.record(event.run)
                assert record is not None
                ended[event.run] = record
                break


def write(store: Store, event: Event) -> None:
    """What an event means to the store."""
    match event:
        case Started(run, _, _, provenance):
            store.start(run, provenance)
        case Point(run, step, values):
            store.point(run, step, values)
        case Done(run, result, seconds):
            store.finish(run, result, seconds)
            (store.folder(run) / "checkpoint.safetensors").unlink(missing_ok=True)
        case Failed(run, error):
            store.fail(run, error)
