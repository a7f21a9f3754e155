"""One spec -> a stream of events. Never touches the store; files of a run live in its own folder."""

import ctypes
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import torch

from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Looked, Point, Progressed, Started
from recollect.spec.files import CHECKPOINT, WEIGHTS
from recollect.tasks import Task, make_task
from recollect.tasks.outcome import outcome
from recollect.tasks.streams import derive
from recollect.training import checkpoint
from recollect.training.check import preflight
from recollect.training.device import libraries, named, require, set_up
from recollect.training.learner import Learner
from recollect.training.model import build_model
from recollect.training.products import is_faster, set_products
from recollect.training.subnormal import flushed, flushes
from recollect.training.trainer import Trainer, evaluate, loss_at

SIGN_OF_LIFE = 0.25
"""Seconds between two `Progressed`."""


class Watcher(Protocol):
    """Who looks into the model while it trains, and changes nothing."""

    def due(self, step: int, ended: bool) -> bool:
        """Whether to look at this step."""

    def look(self, trainer: Trainer) -> dict[str, Any]:
        """What there is to see, as JSON data."""


def execute(
    spec: RunSpec, folder: Path | None = None, checkpoint_seconds: float | None = None, watcher: Watcher | None = None
) -> Iterator[Event]:
    """Train a spec to its end, going on from the folder's checkpoint where there is one."""
    require(spec)
    preflight(spec)
    prepare(spec)
    with flushed(spec.compute.threads):
        yield from train(spec, folder, checkpoint_seconds, watcher)


def train(
    spec: RunSpec, folder: Path | None, checkpoint_seconds: float | None, watcher: Watcher | None = None
) -> Iterator[Event]:
    """The same in a process that is set up."""
    task = make_task(spec.task)
    trainer = Trainer(spec, task, initial_model(spec))
    file = None if folder is None else folder / CHECKPOINT
    warm_up(trainer)
    before, notice = resume(trainer, file)
    start = shown = time.monotonic()
    due = checkpoint.Due(checkpoint_seconds, trainer.model.n_params(), start)
    yield Started(spec.id, trainer.progress.step, spec.train.steps, provenance(spec), notice)
    for step, values in replayed(trainer):
        yield Point(spec.id, step, values)
    for point in trainer.advance():
        if watcher is not None and watcher.due(trainer.progress.step, bool(trainer.progress.stopped)):
            yield Looked(spec.id, trainer.progress.step, watcher.look(trainer))
        now = time.monotonic()
        if file is not None and due.at(now):
            checkpoint.save(trainer, file, before + now - start)
            due.took(now, time.monotonic())
        if point is not None:
            yield Point(spec.id, trainer.progress.step, point)
        elif now - shown >= SIGN_OF_LIFE:
            shown = now
            yield Progressed(spec.id, trainer.progress.step, trainer.since())
    result = conclude(trainer, task)
    if folder is not None:
        checkpoint.save_weights(trainer.model, folder / WEIGHTS)
    yield Done(spec.id, result, before + time.monotonic() - start)


def resume(trainer: Trainer, file: Path | None) -> tuple[float, str]:
    """Go on from the checkpoint, if there is a sound one: the seconds spent before it, and what the user must know."""
    if file is None or not file.exists():
        return 0.0, ""
    try:
        return checkpoint.restore(trainer, file), ""
    except checkpoint.Damaged as error:
        return 0.0, f"damaged checkpoint: {error}; the run starts again from step 0"


def replayed(trainer: Trainer) -> Iterator[tuple[int, dict[str, float | None]]]:
    """The points that a checkpoint carries: whoever listened before may have missed the last ones."""
    curves = trainer.progress.curves
    for i, step in enumerate(curves["step"]):
        yield int(step or 0), {name: values[i] for name, values in curves.items() if name != "step"}


def conclude(trainer: Trainer, task: Task) -> dict[str, Any]:
    """The result: a function of the spec alone."""
    spec, curves = trainer.spec, trainer.progress.curves
    scores = {name: evaluate(trainer.model, task.evaluation(name, spec.seed), spec) for name in task.evaluations()}
    validation, test = scores.pop("validation"), scores.pop("test")
    first = curves["validation_loss"][0]
    ended = outcome(
        accuracy=validation.accuracy,
        answers=validation.characters,
        loss=validation.loss,
        first_loss=float("inf") if first is None else first,
        floors=task.answer_floors(),
        plateaus=task.plateaus(),
    )
    stopped = trainer.progress.stopped
    return {
        "outcome": "diverged" if stopped == "diverged" else ended,
        "stopped": stopped,
        "steps": trainer.progress.step,
        **{f"validation_{key}": value for key, value in validation.plain().items()},
        **{f"test_{key}": value for key, value in test.plain().items()},
        **({"evaluations": {name: score.plain() for name, score in scores.items()}} if scores else {}),
        "n_params": trainer.model.n_params(),
        "state_size": trainer.model.state_size(),
        "floors": dict(task.floors()),
        "curves": curves,
    }


def initial_model(spec: RunSpec) -> Learner:
    """The model at step 0, a function of the spec."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive(spec.seed, "initialisation"))
        return build_model(spec).to(spec.compute.device)


def warm_up(trainer: Trainer) -> None:
    """Compile the kernels, or read them from the disk, before the first step: two rows there and back, forgotten."""
    rows = trainer.validation[0]
    two = rows._replace(tokens=rows.tokens[:2], at=rows.at[:2], target=rows.target[:2])
    loss, _ = loss_at(trainer.model, two, trainer.spec)
    loss.backward()
    trainer.model.zero_grad(set_to_none=True)


def prepare(spec: RunSpec) -> None:
    """Set this process up for a spec: threads, precision, products, and a heap that is kept."""
    keep_heap()
    set_up(spec)
    set_products(spec)
    torch.set_num_threads(spec.compute.threads)


@cache
def keep_heap() -> None:
    """Tell glibc not to hand big blocks back to the system at every step (1.5-2x on matrix products; same numbers)."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL("libc.so.6")
    m_trim_threshold, m_mmap_max = -1, -4
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, 2**31 - 1)


@cache
def commit() -> str:
    """The version of the code where it is a checkout, `+` where files differ from it; else empty."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return ""
    words = ["git", "-C", str(folder), "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def provenance(spec: RunSpec) -> dict[str, Any]:
    """Where and with what it ran: recorded, never compared."""
    return {
        "recollect": version("recollect"),
        "commit": commit(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": torch.backends.cpu.get_cpu_capability(),
        "products": "oneDNN" if is_faster(spec) else "torch",
        "subnormals": "flushed" if flushes(spec.compute.threads) else "kept",
        "host": platform.node(),
        "pid": os.getpid(),
        "device": spec.compute.device,
        **named(torch.device(spec.compute.device)),
        **libraries(spec),
    }
