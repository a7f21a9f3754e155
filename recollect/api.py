"""recollect from Python: run specs, find a window, compare mixers, load a run.

Whoever wants to follow runs gives `listen`, one function or several. Each is called with every event of every run
(`recollect.spec.events`): `Started`, which has the spec, then `Point` with the values of an evaluation and `Progressed`
between two, at last `Done`, `Failed` or `Lost`. What a listener raises ends the call; the store stays sound.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from recollect.errors import BadInput
from recollect.inside.probe import Probe
from recollect.inside.probe import probe as look_into
from recollect.inside.seen import SHOWN
from recollect.spec import ForeignOptions, ForeignTaskOptions, RunSpec
from recollect.spec.files import WEIGHTS
from recollect.store import DEFAULT, DONE, Contents, Record, Store
from recollect.store.table import results
from recollect.studies import Changes
from recollect.sweep import Grid, Listener, sweep
from recollect.sweep.comparison import NAME, Comparison
from recollect.sweep.executors import EXECUTORS, Executor, Wishes, within_reach
from recollect.training.burden import burdens
from recollect.training.check import preflight
from recollect.training.checkpoint import load_weights
from recollect.training.device import require
from recollect.training.execute import initial_model
from recollect.training.learner import Learner
from recollect.window import THRESHOLD, CellSearch, Found, Search, find
from recollect.window.tuned import MOST

Listeners = Listener | Sequence[Listener]


@dataclass(frozen=True)
class Loaded:
    """A finished run with its trained model."""

    record: Record
    model: Learner
    spec: RunSpec
    """The record's, with users' files where they can be read."""


def run(spec: RunSpec, store: Path | str | None = None, listen: Listeners = ()) -> Record:
    """Train a spec in this process and return its record; with a store it is kept, and not done twice."""
    executor = _ready([spec], "inline", Wishes())
    with _opened(store) as opened:
        sweep(Grid([spec]), executor, opened, listen)
        record = opened.record(spec.id)
    assert record is not None
    return record


def run_many(
    specs: Sequence[RunSpec],
    store: Path | str | None = None,
    *,
    workers: int | None = None,
    executor: str = "local",
    listen: Listeners = (),
) -> pd.DataFrame:
    """Train specs, several at once, and return their results: a row per run in their order, columns as in `results`.

    By default every core has a worker. With a store all is kept, what it has is not done again, and a call that was
    stopped goes on where it was. A run that raised or was lost has that as its `status`.
    """
    wanted = {spec.id: spec for spec in specs}
    trainer = _ready(specs, executor, _wishes(workers, specs))
    with _opened(store) as opened:
        sweep(Grid(specs), trainer, opened, listen)
        found = {run: record for run in wanted if (record := opened.record(run)) is not None}
    return results([found[run] for run in wanted if run in found])


def find_window(
    spec: RunSpec,
    store: Path | str | None = None,
    *,
    low: float = 1e-5,
    high: float = 1e-1,
    max_runs: int = 40,
    tolerance: float = 0.1,
    threshold: float = THRESHOLD,
    first_seed: int = 0,
    workers: int | None = None,
    executor: str = "local",
    listen: Listeners = (),
) -> Found:
    """Search the learning rates at which the cell of a spec succeeds, whatever rate and seed the spec itself has.

    `.window` has the edges and the width with their intervals, `.records` the runs (`results(found.records)` is their
    table), `print(found.window)` says it in words. Finished runs of the cell that the store has are used.
    """
    search = Search(low, high, max_runs, tolerance, threshold, first_seed)
    wishes = _wishes(workers, [spec])
    cell = CellSearch(spec, search, EXECUTORS.find(executor).at_once(wishes))
    trainer = _ready([spec], executor, wishes)
    with _opened(store) as opened:
        sweep(cell, trainer, opened, listen)
        found = find(spec.model.mixer_name, cell, opened.records(cell=spec.cell, status=DONE))
    if found is None:
        raise BadInput(f"find_window: none of the runs of {spec.model.mixer_name} came to its end")
    return found


def compare_mixers(
    *mixers: str,
    against: Sequence[str] = (),
    scale: str = "laptop",
    like: str = "",
    d_model: int | None = None,
    fields: Mapping[str, Any] | None = None,
    max_runs: int = MOST,
    store: Path | str | None = None,
    workers: int | None = None,
    executor: str = "local",
    listen: Listeners = (),
) -> pd.DataFrame:
    """Put models beside others, as `recollect compare` does, and return its table: a row per model.

    A model is `path/to/file.py:Class` or a name; mixers joined by commas are one model, one mixer per layer. Runs of
    the usual others come with recollect, the rest is trained. `d_model` is the width, of which a half and a fourth are
    tried too; `fields` are of the spec, the same for all of them; `max_runs` bounds the search of each. With a store
    all is kept, and a call that was stopped goes on where it was.
    """
    from recollect.report.compare import lines, table

    changes = Changes(fields or {}, widths=() if d_model is None else (d_model,), like=like)
    comparison = Comparison.of(mixers, against, scale, changes, max_runs)
    specs = [cell.spec for _, cell in comparison.cells]
    trainer = _ready(specs, executor, _wishes(workers, specs))
    with _opened(store) as opened:
        comparison.borrow(opened)
        comparison.searching().run(opened, trainer, [listen] if callable(listen) else listen)
        found = Contents(opened).labelled(NAME, comparison.scale)
        return table(lines(found, burdens(comparison.wide)))


def load(run: str, store: Path | str = DEFAULT, *, trust: bool = False) -> Loaded:
    """A finished run by (the beginning of) its id: `.record` and `.model`, in evaluation mode.

    Code of a mixer or a task that the store brings, or that an installed package holds, is executed only with `trust`.
    """
    opened = Store(Path(store))
    record = opened.find(run)
    folder = opened.folder(record.id)
    file = folder / WEIGHTS
    opened.close()
    if not file.exists():
        raise BadInput(f"run {record.id}: no weights at {file} (status {record.status})")
    spec = within_reach(record.spec.model_dump(mode="json"), folder)
    if not trust:
        _refuse_brought(spec, folder)
    model = initial_model(spec)
    load_weights(model, file)
    return Loaded(record, model.eval(), spec)


def probe(
    run: str, store: Path | str = DEFAULT, *, rows: int | None = None, heads: int | None = None, trust: bool = False
) -> Probe:
    """Look into a finished run by (the beginning of) its id; `.to_json()` has all numbers.

    Of each layer the matrices of so many heads or channels are kept, those that read most where the answer is.
    """
    for name, given in (("rows", rows), ("heads", heads)):
        if given is not None and given < 1:
            raise BadInput(f"probe: {name} must be at least 1 (got {given})")
    loaded = load(run, store, trust=trust)
    record = loaded.record
    opened = Store(Path(store))
    looks = opened.looks(record.id)
    opened.close()
    if not record.is_done:
        raise BadInput(f"run {record.id}: is {record.status}; it can be looked into when it is done")
    assert record.result is not None
    return look_into(record.id, loaded.spec, loaded.model, record.result["curves"], looks, rows, heads or SHOWN)


@contextmanager
def _opened(path: Path | str | None) -> Iterator[Store]:
    """A store to write to; without a path one that is gone at the end."""
    with TemporaryDirectory() as folder:
        opened = Store(Path(folder) / "recollect.db" if path is None else Path(path), create=True)
        try:
            yield opened
        finally:
            opened.close()


def _refuse_brought(spec: RunSpec, folder: Path) -> None:
    """Refuse code that lies in no file of the user's own: in a folder of the store's runs, or in a package."""
    for what, part in [*(("mixer", mixer) for mixer in spec.model.mixers), ("task", spec.task)]:
        if not isinstance(part, ForeignOptions | ForeignTaskOptions):
            continue
        if not part.path or folder.parent.resolve() in Path(part.path).resolve().parents:
            whose = f"the copy {part.path} in the store's folder" if part.path else "an installed package"
            told = f"its {what} {part.name} is code of {whose}"
            raise BadInput(f"run {spec.id}: {told}; load it with trust=True (probe: --trust)")


def _wishes(workers: int | None, specs: Sequence[RunSpec]) -> Wishes:
    """What is asked of the executor; None asks for as many workers as there is room for."""
    if workers is not None and workers < 1:
        raise BadInput(f"workers: must be at least 1, or None for one per core (got {workers})")
    return Wishes(workers=workers, threads=max((spec.compute.threads for spec in specs), default=1))


def _ready(specs: Sequence[RunSpec], name: str, wishes: Wishes) -> Executor:
    """Who will train these specs; what cannot be trained is refused before anything is written."""
    kind = EXECUTORS.find(name)
    kind.check_workers(wishes, f"workers: executor '{name}'")
    for spec in {spec.cell: spec for spec in specs}.values():
        require(spec)
        preflight(spec)
    return kind.begin(wishes)
