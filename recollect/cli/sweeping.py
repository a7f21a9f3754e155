"""Training a list of cases while the user watches."""

from collections.abc import Sequence

from recollect.cli.live import Live, describe, summary
from recollect.events import Done, Event, Failed, Point
from recollect.executors import Inline
from recollect.store import Store
from recollect.studies import Case
from recollect.sweep import Grid, sweep


def train_cases(study: str, scale: str, cases: Sequence[Case], store: Store) -> int:
    """Train what is missing; prints a line per finished run; the number of runs that did not end well."""
    specs = [case.spec for case in cases]
    labels = {case.spec.id: case.label for case in cases}
    store.add(specs)
    store.link(study, scale, labels)
    with Live(store, len(specs), what="runs") as live:
        live.say(f"{study} at scale {scale}: {len(specs)} runs  store {store.path}")
        ended = sum(record.status == "done" for record in store.records(study=study) if record.id in labels)
        watcher = _Watcher(live, labels, store, ended)
        sweep(Grid(specs), Inline(), store, watcher.hear)
    print(f"{len(specs)} runs, {ended} of them done before")
    return sum(record.status != "done" for record in store.records(study=study) if record.id in labels)


class _Watcher:
    """Turns the events of many runs into one bar and a line per outcome."""

    def __init__(self, live: Live, labels: dict[str, str], store: Store, ended: int) -> None:
        self.live, self.labels, self.store, self.ended = live, labels, store, ended

    def hear(self, event: Event) -> None:
        """Follow many runs."""
        label = self.labels[event.run]
        match event:
            case Point(_, step, values):
                self.live.show(self.ended, f"{label}, step {step}: {describe(values)}", force=False)
            case Done(run, _, _):
                self.ended += 1
                record = self.store.record(run)
                assert record is not None
                self.live.say(f"{label}, seed {record.spec.seed}: {summary(record)[1]}")
                self.live.show(self.ended, "", force=False)
            case Failed():
                self.ended += 1
                self.live.hear(event)
