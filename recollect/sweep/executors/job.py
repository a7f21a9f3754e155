"""A job: a run to be done, as JSON data that any process on any machine can perform."""

import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.errors import BadInput
from recollect.spec import ForeignOptions, ForeignTaskOptions, RunSpec
from recollect.spec.events import Event, Failed
from recollect.spec.files import pin
from recollect.spec.watch import Watch

if TYPE_CHECKING:  # torch is loaded by whoever trains
    from recollect.training.execute import Watcher

BYTES = "latin-1"
"""Carries any byte through JSON and back."""


@dataclass(frozen=True)
class Job:
    """A spec, the folder for its files, the users' files that the spec pins by their hash, what is to be observed."""

    run: str
    spec: dict[str, Any]
    folder: str
    sources: dict[str, str] = field(default_factory=dict)
    watch: dict[str, Any] | None = None

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)

    def to_plain(self) -> dict[str, Any]:
        """As JSON data."""
        return asdict(self)


def make_job(spec: RunSpec, folder: Path, watch: Watch | None = None) -> Job:
    """The job of a spec: it carries the users' files, which may change here and be missing elsewhere."""
    parts = [*spec.model.mixers, spec.task]
    files = [part for part in parts if isinstance(part, ForeignOptions | ForeignTaskOptions) and part.path]
    sources = {options.source: text for options in files if (text := carried(options.path, options.source))}
    return Job(
        spec.id, spec.model_dump(mode="json"), str(folder.resolve()), sources, None if watch is None else asdict(watch)
    )


@cache
def carried(path: str, source: str) -> str:
    """The text of a file as its spec pins it, read once; empty where it is not that any more."""
    return Path(path).read_bytes().decode(BYTES) if is_pinned(path, source) else ""


def is_pinned(path: str, source: str) -> bool:
    """Whether the file is there and is what the spec pins."""
    try:
        return source == pin(Path(path))
    except OSError:
        return False


def perform(job: Job, checkpoint_seconds: float | None) -> Iterator[Event]:
    """Train a job in this process; what it raises becomes Failed."""
    from recollect.training.execute import execute

    try:
        keep_sources(job)
        spec = within_reach(job.spec, job.path)
        yield from execute(spec, job.path, checkpoint_seconds, observer(job, spec))
    except BadInput as error:
        yield Failed(job.run, str(error))
    except (Exception, SystemExit):
        yield Failed(job.run, traceback.format_exc())


def observer(job: Job, spec: RunSpec) -> "Watcher | None":
    """Who looks into the model while it trains, where that is asked for."""
    if job.watch is None:
        return None
    from recollect.inside.observe import Observer

    return Observer(spec, Watch(**job.watch))


def keep_sources(job: Job) -> None:
    """Put the users' files beside the weights that will be trained with them."""
    for source, text in job.sources.items():
        job.path.mkdir(parents=True, exist_ok=True)
        kept(job.path, source).write_bytes(text.encode(BYTES))


def kept(folder: Path, source: str) -> Path:
    """Where a run's folder keeps a user's file."""
    return folder / f"{source.removeprefix('sha256 ')[:16]}.py"


def within_reach(plain: dict[str, Any], folder: Path) -> RunSpec:
    """A spec whose users' files can be read: from the run's folder where the original is missing or has changed."""
    model = dict(plain["model"])
    mixers = model["mixer"]
    model["mixer"] = [_reach(m, folder) for m in mixers] if isinstance(mixers, list) else _reach(mixers, folder)
    return RunSpec.model_validate(plain | {"model": model, "task": _reach(plain["task"], folder)})


def _reach(part: dict[str, Any], folder: Path) -> dict[str, Any]:
    path, source = part.get("path", ""), part.get("source", "")
    if not path or is_pinned(path, source) or not is_pinned(str(kept(folder, source)), source):
        return part
    return part | {"path": str(kept(folder, source))}
