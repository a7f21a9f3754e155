"""recollect from Python: run a spec, load a run."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.files import WEIGHTS
from recollect.store import DEFAULT, Record, Store
from recollect.sweep import Grid, Listener, sweep
from recollect.sweep.executors import Inline, within_reach
from recollect.training.check import preflight
from recollect.training.checkpoint import load_weights
from recollect.training.execute import initial_model
from recollect.training.model import Model


@dataclass(frozen=True)
class Loaded:
    """A finished run with its trained model."""

    record: Record
    model: Model


def run(spec: RunSpec, store: Path | str | None = None, listen: Listener = lambda event: None) -> Record:
    """Train a spec in this process and return its record; with a store it is kept, and not done twice."""
    if store is None:
        with TemporaryDirectory() as folder:
            return run(spec, Path(folder) / "recollect.db", listen)
    preflight(spec)
    opened = Store(Path(store), create=True)
    try:
        sweep(Grid([spec]), Inline(), opened, listen)
        record = opened.record(spec.id)
    finally:
        opened.close()
    assert record is not None
    return record


def load(run: str, store: Path | str = DEFAULT) -> Loaded:
    """A finished run by (the beginning of) its id: `.record` and `.model`, in evaluation mode."""
    opened = Store(Path(store))
    record = opened.find(run)
    folder = opened.folder(record.id)
    file = folder / WEIGHTS
    opened.close()
    if not file.exists():
        raise BadInput(f"run {record.id}: no weights at {file} (status {record.status})")
    model = initial_model(within_reach(record.spec.model_dump(mode="json"), folder))
    load_weights(model, file)
    return Loaded(record, model.eval())
