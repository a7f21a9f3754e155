"""Training a list of cases while the user watches, on whatever executor was asked for."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from recollect.cli.display.board import Board, show
from recollect.cli.display.console import tell
from recollect.spec import ForeignOptions, ForeignTaskOptions, RunSpec
from recollect.spec.watch import Watch
from recollect.store import DONE, Store
from recollect.studies import Case, Design
from recollect.sweep import RETRIES, Grid, Listener, sweep
from recollect.sweep.executors import Executor, Unavailable
from recollect.sweep.named import Sweep
from recollect.training.processor import advice
from recollect.window.best import BestRate

FOREIGN = ForeignOptions | ForeignTaskOptions


def preflight_here(specs: Sequence[RunSpec], elsewhere: bool = False, choice: str = "") -> None:
    """Refuse what cannot be trained as it is said and, unless the runs go elsewhere, a device that is not here.

    What this processor is slow at, and a choice that was made, is said, and done.
    """
    refuse(specs)
    asked = {} if elsewhere else {spec.compute: spec for spec in specs}
    special = [spec for compute, spec in asked.items() if compute.device != "cpu" or compute.compile]
    if special:
        from recollect.training.device import require

        for spec in special:
            require(spec)
    tell(*filter(None, (advice(asked.values()), choice)), stderr=True)


def refuse(specs: Sequence[RunSpec]) -> None:
    """What breaks the contract of users' code, and rates of parameters that a model lacks; a dry run does so too.

    One spec per cell is tried; torch is loaded only where needed.
    """
    cells = {spec.cell: spec for spec in specs}.values()
    if doubtful := [spec for spec in cells if is_doubtful(spec)]:
        from recollect.training.check import preflight

        for spec in doubtful:
            preflight(spec)


def is_doubtful(spec: RunSpec) -> bool:
    """Whether it takes torch to know that a spec can be trained."""
    brought = any(isinstance(part, FOREIGN) for part in (spec.task, *spec.model.mixers))
    return brought or spec.train.is_by_role


def train_cases(
    what: Sweep,
    chosen: Sequence[Case],
    todo: Sequence[Case],
    store: Store,
    executor: Executor,
    design: Design = "every",
    watch: Watch | None = None,
    also: Sequence[Listener] = (),
) -> int:
    """Train what is to do of what was chosen, heard by others too; the number of runs that raised or were lost."""
    done, specs, total = len(chosen) - len(todo), [case.spec for case in chosen], None
    best = BestRate(specs) if design == "best" else None
    if best:  # a store may have more than it wants
        ahead = {case.spec.id for case in todo}
        known = [run for run in store.records(status=DONE) if run.id not in ahead]
        total = best.count(known)
        done = total - len(best.left(known))
    board = Board({case.spec.id: describe_case(case) for case in todo}, done, RETRIES, total=total)
    scale = f" at scale {what.scale}" if what.scale else ""
    with watched(board, store, f"{what.name}{scale}: {board.total} runs, {board.before} done") as hear:
        store.add([case.spec for case in what.cases])
        enrol(what, what.cases, store)
        sweep(best or Grid(specs), executor, store, [hear, *also], watch=watch)
        if best:  # but for what `--only` left to come, the others were never wanted
            statuses, every = store.statuses(), BestRate([case.spec for case in what.cases])
            left = {spec.id for spec in every.left(store.records(status=DONE))}
            enrol(
                what,
                [case for case in what.cases if statuses[case.spec.id] != "pending" or case.spec.id in left],
                store,
            )
    print(f"{board.total} runs, {board.before} of them done before")
    return board.bad()


def enrol(what: Sweep, cases: Sequence[Case], store: Store) -> None:
    """Say which runs make up a sweep."""
    store.enrol(what.name, what.scale, {case.spec.id: case.label for case in cases})


@contextmanager
def watched(board: Board, store: Store, headline: str) -> Iterator[Listener]:
    """Be the store's writer while the user watches; Ctrl-C says how far it came, and how to go on."""
    try:
        with store.writing(), show(board) as watcher:
            notice = f"\n{store.notice}" if store.notice else ""
            watcher.console.print(f"{headline}  store {store.path}{notice}")
            yield watcher.hear
    except KeyboardInterrupt:
        again = shlex.join(["recollect", *sys.argv[1:]])
        text = f"stopped; {board.ended} of {board.total} runs have ended; go on with: {again}"
        raise KeyboardInterrupt(text) from None
    except Unavailable as error:
        board.trouble = 1
        print(f"recollect: {error}; {board.sentence()}", file=sys.stderr)


def describe_case(case: Case) -> str:
    """A run in a few words: what `--only` looks in."""
    return f"{case.label}, lr {case.spec.train.lr:.3g}, seed {case.spec.seed}"
