"""recollect from Python: run a spec, load a run."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.errors import BadInput
from recollect.inside.probe import Probe
from recollect.inside.probe import probe as look_into
from recollect.spec import ForeignOptions, RunSpec
from recollect.spec.files import WEIGHTS
from recollect.store import DEFAULT, Record, Store
from recollect.sweep import Grid, Listener, sweep
from recollect.sweep.executors import Inline, within_reach
from recollect.training.check import preflight
from recollect.training.checkpoint import load_weights
from recollect.training.device import require
from recollect.training.execute import initial_model
from recollect.training.model import Model


@dataclass(frozen=True)
class Loaded:
    """A finished run with its trained model."""

    record: Record
    model: Model
    spec: RunSpec
    """The record's, with users' files where they can be read."""


def run(spec: RunSpec, store: Path | str | None = None, listen: Listener = lambda event: None) -> Record:
    """Train a spec in this process and return its record; with a store it is kept, and not done twice."""
    if store is None:
        with TemporaryDirectory() as folder:
            return run(spec, Path(folder) / "recollect.db", listen)
    require(spec)
    preflight(spec)
    opened = Store(Path(store), create=True)
    try:
        sweep(Grid([spec]), Inline(), opened, listen)
        record = opened.record(spec.id)
    finally:
        opened.close()
    assert record is not None
    return record


def load(run: str, store: Path | str = DEFAULT, *, trust: bool = False) -> Loaded:
    """A finished run by (the beginning of) its id: `.record` and `.model`, in evaluation mode.

    Code that the store brings, or that an installed package holds, is executed only with `trust`.
    """
    opened = Store(Path(store))
    record = opened.find(run)
    folder = opened.folder(record.id)
    file = folder / WEIGHTS
    opened.close()
    if not file.exists():
        raise BadInput(f"run {record.id}: no weights at {file} (status {record.status})")
    spec = within_reach(record.spec.model_dump(mode="json"), folder)
    for mixer in (mixer for mixer in spec.model.mixers if isinstance(mixer, ForeignOptions) and not trust):
        if not mixer.path or folder.resolve() in Path(mixer.path).resolve().parents:
            whose = f"the copy {mixer.path} in the store's folder" if mixer.path else "an installed package"
            raise BadInput(f"run {record.id}: its mixer {mixer.name} is code of {whose}; load it with trust=True")
    model = initial_model(spec)
    load_weights(model, file)
    return Loaded(record, model.eval(), spec)


def probe(run: str, store: Path | str = DEFAULT, *, rows: int | None = None, trust: bool = False) -> Probe:
    """Look into a finished run by (the beginning of) its id; `.to_json()` has all numbers."""
    loaded = load(run, store, trust=trust)
    record = loaded.record
    if not record.is_done:
        raise BadInput(f"run {record.id}: is {record.status}; it can be looked into when it is done")
    assert record.result is not None
    return look_into(record.id, loaded.spec, loaded.model, record.result["curves"], rows)
