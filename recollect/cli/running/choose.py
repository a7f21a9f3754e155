"""Which of the runs: those that `--only` and `--shard` name and that no store has."""

from dataclasses import replace
from pathlib import Path

from recollect.cli.display.watch import describe_case
from recollect.errors import BadInput
from recollect.spec.watch import Watch
from recollect.store import DONE, NoStore, Store
from recollect.studies import Case, Design
from recollect.sweep import lacking
from recollect.sweep.named import Sweep
from recollect.sweep.searching import Searching, stored
from recollect.sweep.shards import Shard
from recollect.window.best import BestRate


def pick(what: Sweep, only: str) -> list[Case]:
    """The cases that `--only` names, each run once."""
    cases = {case.spec.id: case for case in what.cases}
    chosen = [case for run, case in cases.items() if only in f"{run} {describe_case(case)}"]
    if not chosen:
        example = describe_case(what.cases[0])
        raise BadInput(f"--only: none of the {len(cases)} runs contains '{only}'; the first is '{example}'")
    return chosen


def missing(chosen: list[Case], store: Path, watch: Watch | None = None) -> list[Case]:
    """The cases that are not done yet, or not looked into as asked, by a store that need not exist."""
    try:
        opened = Store(store)
    except NoStore:
        return chosen
    done = opened.done() - (lacking(watch, opened, opened.records(status=DONE)) if watch else set())
    opened.close()
    return [case for case in chosen if case.spec.id not in done]


def left(
    what: Sweep, cases: list[Case], design: Design, store: Path, most: int | None, watch: Watch | None = None
) -> list[Case]:
    """What the store into which shards are merged has not got yet; where runs follow from others, whole cells."""
    if design == "every":
        return missing(cases, store, watch)
    cells = what.tuned(cases, most)
    known = stored(store, Searching(what.name, what.scale, cells))
    if design == "best":
        wanted = {spec.cell for spec in BestRate([case.spec for case in cases]).next(known, [])}
    else:
        wanted = {cell.spec.cell for _, cell in cells if cell.next(known, [])}
    return [case for case in cases if case.spec.cell in wanted]


def sharded(what: Sweep, part: Shard, design: Design) -> Sweep:
    """The sweep that a shard's store knows of; a search takes its span and seeds from the whole."""
    return what if design == "window" else replace(what, cases=part.cut(what.cases, design))


def after_shards(part: Shard, store: Path) -> str:
    """How a sweep that was cut becomes whole again."""
    merge = f"recollect store merge {store} {part.stores(store)}"
    return f"shard {part}, in {part.store(store)}; after the last: {merge}, then the same command without --shard"
