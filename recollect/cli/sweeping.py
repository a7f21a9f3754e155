"""Training a list of cases while the user watches, on whatever executor was asked for."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.board import Board, show
from recollect.errors import BadInput
from recollect.executors import Executor, Inline, Local, Ray, Unavailable, Wishes, cores
from recollect.spec import ForeignOptions, RunSpec
from recollect.store import Store
from recollect.studies import Case
from recollect.sweep import RETRIES, BestRate, Grid, sweep
from recollect.sweepfile import Sweep

Kind = Literal["inline", "local", "ray"]
Design = Literal["every", "best"]


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """Who trains the runs."""

    executor: Annotated[Kind, Parameter(help="this process, workers on this machine, or a Ray cluster")] = "local"
    workers: Annotated[
        int | None, Parameter(help="runs at once; by default one per core (and thread), or what the cluster holds")
    ] = None
    address: Annotated[str, Parameter(help="Ray: the cluster's address; else $RAY_ADDRESS, else a new one here")] = ""
    cpus_per_run: Annotated[float, Parameter(help="Ray: CPUs that a run takes")] = 1.0
    gpus_per_run: Annotated[float, Parameter(help="Ray: GPUs that a run takes; a fraction shares one")] = 0.0
    checkpoint_seconds: Annotated[float, Parameter(help="between two checkpoints of a run")] = 5.0

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.workers is not None and self.workers < 1:
            raise BadInput(f"--workers: must be at least 1 (got {self.workers})")
        given = {
            "--address": self.address,
            "--cpus-per-run": self.cpus_per_run != 1,
            "--gpus-per-run": self.gpus_per_run,
        }
        for option in [option for option, value in given.items() if value and self.executor != "ray"]:
            raise BadInput(f"{option} is for --executor ray (got --executor {self.executor})")

    def at_once(self, specs: Sequence[RunSpec]) -> int:
        """How many runs this machine trains at once: every thread of every run has a core."""
        if self.executor == "inline":
            return 1
        threads = max((spec.compute.threads for spec in specs), default=1)
        return self.workers or max(1, cores() // threads)

    def make(self, specs: Sequence[RunSpec]) -> Executor:
        """The executor for these runs."""
        if not specs:
            return Inline()
        match self.executor:
            case "inline":
                return Inline(self.checkpoint_seconds)
            case "local":
                return Local(self.at_once(specs), self.checkpoint_seconds)
            case "ray":
                wishes = Wishes(self.address, self.cpus_per_run, self.gpus_per_run, self.checkpoint_seconds)
                return Ray(wishes, self.workers)


def preflight_foreign(specs: Sequence[RunSpec]) -> None:
    """Refuse users' mixers that cannot be built, one spec per cell; torch is loaded only where there are any."""
    cells = {spec.cell: spec for spec in specs if any(isinstance(o, ForeignOptions) for o in spec.model.mixers)}
    if cells:
        from recollect.check import preflight

        for spec in cells.values():
            preflight(spec)


def train_cases(
    what: Sweep,
    chosen: Sequence[Case],
    todo: Sequence[Case],
    store: Store,
    executor: Executor,
    design: Design = "every",
) -> int:
    """Train what is to do of what was chosen; the number of those runs that raised or were lost."""
    done, specs = len(chosen) - len(todo), [case.spec for case in chosen]
    best = BestRate(specs) if design == "best" else None
    total = best.count() if best else None
    board = Board({case.spec.id: describe_case(case) for case in todo}, done, RETRIES, total=total)
    try:
        with stoppable(board), store.writing(), show(board) as watcher:
            watcher.console.print(headline(what, board, store), markup=False)
            store.add([case.spec for case in what.cases])
            enrol(what, what.cases, store)
            sweep(best or Grid(specs), executor, store, watcher.hear)
            if best:  # the others were never wanted
                statuses = store.statuses()
                enrol(what, [case for case in what.cases if statuses[case.spec.id] != "pending"], store)
    except Unavailable as error:
        print(f"recollect: {error}; {board.sentence()}", file=sys.stderr)
        return 1
    print(f"{board.total} runs, {board.before} of them done before")
    return board.outcomes["failed"] + board.outcomes["lost"]


def enrol(what: Sweep, cases: Sequence[Case], store: Store) -> None:
    """Say which runs make up a sweep."""
    store.enrol(what.name, what.scale, {case.spec.id: case.label for case in cases})


@contextmanager
def stoppable(board: Board) -> Iterator[None]:
    """Ctrl-C says how far it came and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        again = shlex.join(["recollect", *sys.argv[1:]])
        text = f"stopped; {board.ended} of {board.total} runs have ended; go on with: {again}"
        raise KeyboardInterrupt(text) from None


def headline(what: Sweep, board: Board, store: Store) -> str:
    """What is about to be done, and where it is kept."""
    scale = f" at scale {what.scale}" if what.scale else ""
    notice = f"\n{store.notice}" if store.notice else ""
    return f"{what.name}{scale}: {board.total} runs, {board.before} done  store {store.path}{notice}"


def describe_case(case: Case) -> str:
    """A run in a few words: what `--only` looks in."""
    return f"{case.label}, lr {case.spec.train.lr:g}, seed {case.spec.seed}"
