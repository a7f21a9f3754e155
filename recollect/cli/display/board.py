"""What a user sees of many runs: a live board in a terminal, a plain line every 30 seconds elsewhere."""

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from recollect.cli.display.console import console as make_console
from recollect.cli.display.live import PLAIN_SECONDS, Latest
from recollect.spec.events import Done, Event, Failed, Lost, Point, Progressed, Started

LINES, LAST = 16, 5
ENOUGH = 0.1  # runs, or a part of one, that tell a pace


@dataclass
class Line:
    """A run under way, which this process took up at the step `begun`."""

    name: str
    steps: int
    begun: int
    step: int
    latest: Latest = field(default_factory=Latest)


class Board:
    """Follows the runs of `names`, of which none is among the `done`; can be printed, in full or as one sentence.

    `total` is for searches, which do not know their runs beforehand: the most that there may be, the `done` included.
    """

    def __init__(self, names: Mapping[str, str], done: int = 0, retries: int = 0, *, total: int | None = None) -> None:
        self.names, self.before, self.retries = names, done, retries
        self.total = done + len(names) if total is None else total
        self.outcomes: Counter[str] = Counter()
        self.losses: Counter[str] = Counter()
        self.under_way: dict[str, Line] = {}
        self.last: deque[str] = deque(maxlen=LAST)
        self.began = time.monotonic()
        self.trouble = 0

    def bad(self) -> int:
        """How much went wrong: runs that raised or were lost, and an executor that could not go on."""
        return self.outcomes["failed"] + self.outcomes["lost"] + self.trouble

    @property
    def ended(self) -> int:
        """Runs that came to an end, before or now."""
        return self.before + self.outcomes.total()

    def hear(self, event: Event) -> str:
        """Take note; a line worth keeping where something went wrong, else an empty one."""
        name = self.names.get(event.run, event.run)
        match event:
            case Started(run, step, steps, _, notice):
                self.under_way[run] = Line(name, steps, step, step)
                return f"run {run} ({name}): {notice}" if notice else ""
            case Point(run, step, values):
                self.under_way[run].step = step
                self.under_way[run].latest.point(step, values)
            case Progressed(run, step, values):
                self.under_way[run].step = step
                self.under_way[run].latest.progressed(values)
            case Done(run, result, seconds):
                accuracy = f"test accuracy {result['test_accuracy']:.1%}"
                self._end(run, result["outcome"], f"{name}: {result['outcome']}, {accuracy} ({seconds:.0f} s)")
            case Failed(run, error):
                return self._end(run, "failed", f"run {run} ({name}) raised: {error.strip().splitlines()[-1]}")
            case Lost(run, reason):
                return self._lose(run, f"run {run} ({name}) was lost: {reason}")
        return ""

    def _end(self, run: str, outcome: str, line: str) -> str:
        self.under_way.pop(run, None)
        self.outcomes[outcome] += 1
        self.last.append(line)
        return line

    def _lose(self, run: str, line: str) -> str:
        self.losses[run] += 1
        if self.losses[run] > self.retries:
            return self._end(run, "lost", line)
        self.under_way.pop(run, None)
        return f"{line}; trying again"

    def seconds_left(self) -> float | None:
        """At the pace so far; a run under way counts by its steps."""
        lines = self.under_way.values()
        made = self.outcomes.total() + sum((line.step - line.begun) / line.steps for line in lines)
        left = self.total - self.ended - sum(line.step / line.steps for line in lines)
        return (time.monotonic() - self.began) / made * left if made >= ENOUGH else None

    def sentence(self) -> str:
        """Where it stands, in one line."""
        parts = [f"{self.ended}/{self.total} runs", f"{len(self.under_way)} under way"]
        parts += [f"{count} {outcome}" for outcome, count in self.outcomes.most_common()]
        left = self.seconds_left()
        return ", ".join(parts + ([f"about {duration(left)} left"] if left else []))

    def __rich__(self) -> Group:
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(self.total, self.ended, width=30), Text(self.sentence()))
        lines = Table.grid(padding=(0, 2))
        for line in list(self.under_way.values())[:LINES]:
            lines.add_row(Text(f"  {line.name}"), Text(f"step {line.step}/{line.steps}"), Text(str(line.latest)))
        hidden = len(self.under_way) - LINES
        more = [Text(f"  and {hidden} more")] if hidden > 0 else []
        return Group(bar, lines, *more, *(Text(line, style="dim", overflow="ellipsis") for line in self.last))


@contextmanager
def show(board: Board) -> Iterator["Watcher"]:
    """Keep the board in view."""
    console = make_console(stderr=True)
    if not console.is_terminal:
        yield Watcher(board, console, live=False)
        return
    with Live(board, console=console, transient=True, refresh_per_second=4):
        yield Watcher(board, console, live=True)


class Watcher:
    """Passes events to the board, and prints what has to stay."""

    def __init__(self, board: Board, console: Console, *, live: bool) -> None:
        self.board, self.console, self.live = board, console, live
        self.spoken = time.monotonic()

    def hear(self, event: Event) -> None:
        """Print trouble at once, and where nothing is drawn a line every 30 seconds."""
        if trouble := self.board.hear(event):
            self.console.print(trouble)
        if not self.live and time.monotonic() - self.spoken >= PLAIN_SECONDS:
            self.spoken = time.monotonic()
            print(self.board.sentence(), file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time in the unit that fits, no more exact than an estimate is."""
    for unit, size in (("years", 31_557_600.0), ("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.{seconds < 10 * size:d}f} {unit}"
    return f"{seconds:.0f} s"
