"""What a user sees while runs go on: a live display in a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from typing_extensions import Self

from recollect.cli.display.console import console
from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Lost, Point, Progressed, Started
from recollect.store import Record, Store

PLAIN_SECONDS = 30.0


class Live:
    """Listens to events and shows them; `quiet` shows nothing."""

    def __init__(self, store: Store, total: int, *, quiet: bool = False, what: str = "steps") -> None:
        self.store, self.total, self.quiet, self.what = store, total, quiet, what
        self.console = console(stderr=True)
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.spoken = time.monotonic()
        self.latest = Latest()
        if self.console.is_terminal and not quiet:
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self.bar = Progress(*columns, console=self.console, transient=True)

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self.quiet:
            self.console.print(text)

    def begin(self, spec: RunSpec) -> None:
        """Name the run and the store."""
        self.say(headline(spec, self.store.path))
        if self.store.notice:
            self.say(self.store.notice)

    def hear(self, event: Event) -> None:
        """Follow one run."""
        match event:
            case Started(_, step, steps, _, notice) if notice or step:
                self.say(notice or f"goes on from step {step} of {steps}")
            case Point(_, step, values):
                self.latest.point(step, values)
                self.show(step, describe(values) if self.bar is None else str(self.latest), force=True)
            case Progressed(_, step, values):
                self.latest.progressed(values)
                self.show(step, str(self.latest))
            case Failed(run, error):
                self.say(f"run {run} raised:\n{error.rstrip()}")
            case Lost(run, reason):
                self.say(f"run {run} was lost: {reason}")
            case Started() | Done():
                pass

    def show(self, done: int, text: str, force: bool = False) -> None:
        """Move the bar, or print a line when one is due."""
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done, description=text)
        elif not self.quiet and (force or time.monotonic() - self.spoken >= PLAIN_SECONDS):
            self.spoken = time.monotonic()
            print(f"{done}/{self.total} {self.what}  {text}", file=sys.stderr, flush=True)


def headline(spec: RunSpec, store: Path) -> str:
    """Which run, and where it is kept."""
    return f"run {spec.id}  store {store}"


NAMES = {"train_loss": "train loss", "train_accuracy": "train accuracy"}
JUDGED = {"train_loss": "train loss", "validation_loss": "val loss", "validation_accuracy": "val accuracy"}


def describe(values: Mapping[str, float | None]) -> str:
    """A point in a few words; one between two evaluations has training's numbers only."""
    names = JUDGED if "validation_loss" in values else NAMES
    return "  ".join(f"{text} {value:.3f}" for key, text in names.items() if (value := values.get(key)) is not None)


class Latest:
    """What is known of a run under way: of training now, of validation at the last evaluation after step 0."""

    def __init__(self) -> None:
        self.now = self.judged = ""

    def point(self, step: int, values: Mapping[str, float | None]) -> None:
        """An evaluation; that of a model that has not learned yet would stand there as if it were its accuracy."""
        self.now, self.judged = "", f"{describe(values)} (step {step})" if step else ""

    def progressed(self, values: Mapping[str, float | None]) -> None:
        """A sign of life."""
        self.now = describe(values) or self.now

    def __str__(self) -> str:
        return "  ".join(filter(None, (self.now, self.judged)))


def state_of(numbers: int | None) -> str:
    """A state in words; that of a user's mixer is known where its class tells it."""
    return "state unknown" if numbers is None else f"state of {numbers:,} numbers"


def summary(record: Record, *, fresh: bool = True) -> list[str]:
    """A finished run in three lines."""
    if record.result is None:
        return [f"run {record.id}: {record.status}"]
    r, spec = record.result, record.spec
    floors = ", ".join(f"{name} {level:.1%}" for name, level in r["floors"].items())
    how = "" if fresh else "  (stored; not run again)"
    letters = f" (characters {r['test_character_accuracy']:.1%})" if "test_character_accuracy" in r else ""
    return [
        f"{record.id}  {spec.task.name} {spec.model.mixer_name}  {spec.model.n_layers} x {spec.model.d_model}  "
        f"lr {spec.train.lr:.3g}  seed {spec.seed}{how}",
        f"{r['outcome']}: test accuracy {r['test_accuracy']:.1%}{letters}, validation {r['validation_accuracy']:.1%} "
        f"after {r['steps']} of {spec.train.steps} steps ({record.seconds:.0f} s)",
        f"floors: {floors}; {r['n_params']:,} parameters, {state_of(r['state_size'])}",
    ]
