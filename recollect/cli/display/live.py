"""What a user sees while runs go on: a live display in a terminal, plain lines elsewhere."""

import sys
import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from typing_extensions import Self

from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Lost, Point, Progressed, Started
from recollect.store import Record, Store

PLAIN_SECONDS = 30.0


def table_console() -> Console:
    """Standard output for tables: as wide as the terminal, or as wide as they are where there is none."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=10_000)


class Live:
    """Listens to events and shows them; `quiet` shows nothing."""

    def __init__(self, store: Store, total: int, *, quiet: bool = False, what: str = "steps") -> None:
        self.store, self.total, self.quiet, self.what = store, total, quiet, what
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.spoken = time.monotonic()
        self.last = ""
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
            self.console.print(text, markup=False)

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
                self.show(step, describe(values), force=True)
            case Progressed(_, step):
                self.show(step, self.last)
            case Failed(run, error):
                self.say(f"run {run} raised:\n{error.rstrip()}")
            case Lost(run, reason):
                self.say(f"run {run} was lost: {reason}")
            case Started() | Done():
                pass

    def show(self, done: int, text: str, force: bool = False) -> None:
        """Move the bar, or print a line when one is due."""
        self.last = text
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, completed=done, description=text)
        elif not self.quiet and (force or time.monotonic() - self.spoken >= PLAIN_SECONDS):
            self.spoken = time.monotonic()
            print(f"{done}/{self.total} {self.what}  {text}", file=sys.stderr, flush=True)


def headline(spec: RunSpec, store: Path) -> str:
    """Which run, and where it is kept."""
    return f"run {spec.id}  store {store}"


def describe(values: dict[str, float | None]) -> str:
    """A point in a few words."""
    names = {"train_loss": "train loss", "validation_loss": "val loss", "validation_accuracy": "val accuracy"}
    return "  ".join(f"{text} {value:.3f}" for key, text in names.items() if (value := values.get(key)) is not None)


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
        f"lr {spec.train.lr:g}  seed {spec.seed}{how}",
        f"{r['outcome']}: test accuracy {r['test_accuracy']:.1%}{letters}, validation {r['validation_accuracy']:.1%} "
        f"after {r['steps']} of {spec.train.steps} steps ({record.seconds:.0f} s)",
        f"floors: {floors}; {r['n_params']:,} parameters, state of {r['state_size']:,} numbers",
    ]
