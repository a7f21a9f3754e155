"""`recollect run`: a study or a sweep file, from its runs to its figure."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.display.console import console, tell
from recollect.cli.display.searching import search_cells
from recollect.cli.display.watch import describe_case, preflight_here, refuse, train_cases
from recollect.cli.options import (
    Diagnostics,
    Like,
    Noncausal,
    Probe,
    Sets,
    StorePath,
    check_folder,
    print_figure,
    read_sets,
    whole,
)
from recollect.cli.options.executor import How
from recollect.cli.options.figure import Printed
from recollect.cli.options.names import StudyName
from recollect.cli.options.watch import watch_of
from recollect.errors import BadInput
from recollect.spec.like import roles, told
from recollect.spec.watch import Watch
from recollect.store import DEFAULT, DONE, Contents, NoStore, Store
from recollect.studies import DESIGNS, STUDIES, Case, Changes, Design, Study
from recollect.sweep import lacking
from recollect.sweep.files import Sweep, read_sweep
from recollect.sweep.searching import Cells, Searching, stored
from recollect.sweep.shards import Shard
from recollect.training.costs import check_memory
from recollect.window import ComparedCell
from recollect.window.best import BestRate
from recollect.window.tuned import MOST, USUAL

ENDINGS = (".py", ".yaml", ".yml")


@Parameter(name="*")
@dataclass(frozen=True)
class Changed:
    """What is to be otherwise than the study says; its runs then stand beside the study's own."""

    set_: Sets = ()
    mixers: Annotated[
        tuple[str, ...],
        Parameter(
            consume_multiple=True,
            negative=(),
            help="a study's models by name, or your own file.py:Class; +file.py:Class: all, and yours",
        ),
    ] = ()
    widths: Annotated[
        tuple[int, ...], Parameter(converter=whole, consume_multiple=True, negative=(), help="other widths")
    ] = ()
    lrs: Annotated[tuple[float, ...], Parameter(consume_multiple=True, negative=(), help="other learning rates")] = ()
    seeds: Annotated[
        tuple[int, ...], Parameter(converter=whole, consume_multiple=True, negative=(), help="other seeds")
    ] = ()

    allow_noncausal: Noncausal = False
    like: Like = ""

    def read(self) -> Changes:
        """As the study takes them."""
        fields = read_sets(self.set_) | ({"model.noncausal": True} if self.allow_noncausal else {})
        return Changes(fields, self.mixers, self.widths, self.lrs, self.seeds, self.like)


@dataclass(frozen=True)
class Order:
    """What was asked for: the runs of a study or a file, by whom, from where to where."""

    study: Study | None
    what: Sweep
    how: How
    store: Path
    out: Path
    printed: Printed
    choice: str
    dry_run: bool


def run(
    study: StudyName,
    /,
    *,
    scale: Annotated[
        Literal["smoke", "laptop", "desk", "paper"] | None, Parameter(help="how large a study is run (laptop)")
    ] = None,
    changed: Changed = Changed(),  # noqa: B008
    design: Annotated[
        Design | None,
        Parameter(
            help="how cells get their learning rates: every one with every seed; the other seeds at the first one's "
            "best rate; or a search for the window, then all seeds at the best rate (by default as the scale has it)"
        ),
    ] = None,
    max_runs: Annotated[
        int | None, Parameter(converter=whole, help=f"of the search of each cell ({USUAL}; {MOST} for an unclear edge)")
    ] = None,
    how: How = How(),  # noqa: B008
    only: Annotated[str, Parameter(help="only runs whose id or description contains this text")] = "",
    limit: Annotated[int | None, Parameter(converter=whole, help="train at most so many of the missing runs")] = None,
    shard: Annotated[
        str | None, Parameter(help="only this part of the runs, such as 2/8, in a store of its own, to be merged")
    ] = None,
    dry_run: Annotated[
        bool, Parameter(negative=(), help="say what would be done and how long it may take; do nothing")
    ] = False,
    probe: Probe = False,
    diagnostics: Diagnostics = False,
    store: StorePath = DEFAULT,
    out: Annotated[Path, Parameter(help="the folder for a study's figure")] = Path("figures"),
    printed: Printed = Printed(),  # noqa: B008
) -> int:
    """Run a study: train what is missing, go on with what was stopped, judge its claims, draw the figure.

    It may be stopped and repeated at will, even by `kill -9`. Exit code 1 where a run raised or was lost.

    For example:

    recollect run demo

    recollect run fig1 --scale paper --dry-run

    recollect run fig1 --design window --mixers attention,mamba --set task.vocabulary=split

    recollect run fig7 --mixers my.py:Mixer deltanet --seeds 1 2

    recollect run fig7 --mixers +my.py:Mixer --like mamba

    recollect run sweep.yaml --workers 4

    recollect run fig1 --shard 2/8

    Parameters
    ----------
    study
        A name (`recollect list studies`), a YAML file with a grid, or a Python file with a function `specs()`.
    """
    how.check()
    changes = changed.read()
    found, what, designed = find(study, scale, changes, design)
    choice = what.choice
    if found is not None:
        brought = changes.names()
        roles(brought, changes.like, f"run {study}")
        choice = told(found.scales[scale or "laptop"].protocol, found.task, brought, changes.like)
    check_print(found, printed, study)
    check_folder(out)
    check_counts(designed, limit, max_runs)
    chosen, path, inside = pick(what, only), store, probe or (found is not None and found.looks_inside)
    if shard is not None:
        part = Shard.read(shard)
        path = part.store(store)
        chosen = left(what, part.cut(chosen, designed), designed, store, max_runs)
        found, what = None, sharded(what, part, designed)
        tell(f"shard {part} of {what.name}: all its runs are done" if not chosen else after_shards(part, store))
        if not chosen:
            return 0
    if dry_run and choice:
        tell(choice, stderr=True)
    order = Order(found, what, how, path, out, printed, choice, dry_run)
    if designed == "window":
        if probe:
            raise BadInput("--probe: a search does not look inside; add --design best or --design every")
        return search(order, what.tuned(chosen if shard else what.cases, max_runs), chosen)
    watch = watch_of([case.spec for case in chosen], inside, diagnostics)
    return train(order, chosen, designed, limit, watch)


def train(order: Order, chosen: list[Case], design: Design, limit: int | None, watch: Watch | None) -> int:
    """Train what is missing of the chosen runs."""
    todo, how = missing(chosen, order.store, watch), order.how
    if limit is not None:
        left_out = {case.spec.id for case in todo[limit:]}
        chosen, todo = [case for case in chosen if case.spec.id not in left_out], todo[:limit]
    specs = [case.spec for case in todo]
    if order.dry_run:
        from recollect.cli.display.dry import report

        refuse(specs)
        count = len(chosen)
        if design == "best" and limit is None:
            plan, cells = BestRate([case.spec for case in chosen]), order.what.tuned(chosen, None)
            known = stored(order.store, Searching(order.what.name, order.what.scale, cells))
            ahead = {spec.id for spec in plan.left(known)}
            count, todo = plan.count(known), [case for case in chosen if case.spec.id in ahead]
        report(order.what, chosen, todo, order.store, how.at_once(specs), count)
        return 0
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, order.choice)
    with how.logs(order.store) as logs, closing(how.make(specs)) as executor:
        opened = Store(order.store, create=True)
        bad = train_cases(order.what, chosen, todo, opened, executor, design, watch, logs)
    draw(order, opened)
    return 1 if bad else 0


def sharded(what: Sweep, part: Shard, design: Design) -> Sweep:
    """The sweep that a shard's store knows of; a search takes its span and seeds from the whole."""
    return what if design == "window" else replace(what, cases=part.cut(what.cases, design))


def left(what: Sweep, cases: list[Case], design: Design, store: Path, most: int | None) -> list[Case]:
    """What the store into which shards are merged has not got yet; where runs follow from others, whole cells."""
    if design == "every":
        return missing(cases, store)
    cells = what.tuned(cases, most)
    known = stored(store, Searching(what.name, what.scale, cells))
    if design == "best":
        wanted = {spec.cell for spec in BestRate([case.spec for case in cases]).next(known, [])}
    else:
        wanted = {cell.spec.cell for _, cell in cells if cell.next(known, [])}
    return [case for case in cases if case.spec.cell in wanted]


def after_shards(part: Shard, store: Path) -> str:
    """How a sweep that was cut becomes whole again."""
    merge = f"recollect store merge {store} {part.stores(store)}"
    return f"shard {part}, in {part.store(store)}; after the last: {merge}, then the same command without --shard"


def search(order: Order, every: Cells, chosen: list[Case]) -> int:
    """The same by search: the windows of the cells that were chosen, then the seeds at their best rates.

    What a chosen cell is compared with comes along: without it, how long to search and what it changes are not known.
    """
    names = {case.spec.cell for case in chosen}
    names |= {
        cell.reference.spec.cell for _, cell in every if isinstance(cell, ComparedCell) and cell.spec.cell in names
    }
    cells = [(label, cell) for label, cell in every if cell.spec.cell in names]
    what, how, specs = order.what, order.how, [cell.spec for _, cell in cells]
    searching = Searching(what.name, what.scale, cells, whole=True, every=every)
    known = stored(order.store, searching)
    if order.dry_run:
        from recollect.cli.display.dry import report_search

        refuse(specs)
        report_search(what, searching, known, order.store, how.at_once(specs))
        return 0
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, order.choice)
    wanted = any(cell.next(known, []) for _, cell in cells)
    with how.logs(order.store) as logs, closing(how.make(specs if wanted else [])) as executor:
        opened = Store(order.store, create=True)
        bad = search_cells(searching, opened, executor, logs)
    draw(order, opened)
    return 1 if bad else 0


def check_print(study: Study | None, printed: Printed, name: str) -> None:
    """Refuse a wish that a study's figure cannot fulfil; the figure's code is loaded only where there is a wish."""
    if printed == Printed():
        return
    if study is None:
        raise BadInput(f"run {name}: a sweep file has no figure to print; `recollect report` draws its runs")
    from recollect.report.figures import FIGURES

    FIGURES.find(study.figure).check(printed.read().panels)


def check_counts(design: Design, limit: int | None, max_runs: int | None) -> None:
    """Refuse numbers that cannot be meant."""
    if limit is not None and limit < 0:
        raise BadInput(f"--limit: must be 0 or more (got {limit})")
    if limit is not None and design == "window":
        raise BadInput("--limit: a search does not know its runs beforehand; --max-runs bounds those of each cell")
    if max_runs is not None and design != "window":
        raise BadInput(f"--max-runs is for --design window (got --design {design})")
    if max_runs is not None and max_runs < 1:
        raise BadInput(f"--max-runs: must be at least 1 (got {max_runs})")


def draw(order: Order, store: Store) -> None:
    """Of a study: what the paper's claims on it come to, its figure, and the page of the whole store."""
    if (study := order.study) is None:
        return
    from recollect.claims import CLAIMS, OWN, ledger
    from recollect.cli.claims import print_verdicts
    from recollect.cli.display.effects import effects_table
    from recollect.cli.report import claim_rows
    from recollect.report import draw_study
    from recollect.report.effects import study_effects
    from recollect.report.kind import Runs
    from recollect.report.write import write_report

    contents, scale = Contents(store), order.what.scale
    for claims in (CLAIMS, OWN):
        found = ledger(contents, studies=(study.name,), claims=claims)
        print_verdicts([one for one in found if one.evidence.scale == scale], long=True)
    if study.figure == "effects":
        for title, runs in Runs.of(contents.labelled(study.name, scale), scale).by_size().items():
            console().print(*([title] if title else []), effects_table(study_effects(runs)))
    print_figure(draw_study(study, scale, contents, order.out, order.printed.read()))
    (page,) = write_report(contents, order.out, ("html",), claims=claim_rows(ledger(contents)))
    print(f"report: {page}")


def find(study: str, scale: str | None, changes: Changes, design: Design | None) -> tuple[Study | None, Sweep, Design]:
    """A study of ours with its runs, or the runs of a file; and how its cells get their learning rates."""
    if study.endswith(ENDINGS):
        if changes:
            raise BadInput(f"run {study}: --set, --mixers, --widths, --lrs and --seeds change a study; edit the file")
        what, designed = read_sweep(Path(study), scale), design or "every"
        named = f"{what.scale} ({DESIGNS[designed]})".strip() if designed != "every" else what.scale
        return None, replace(what, scale=named), designed
    found, chosen = STUDIES.find(study), scale or "laptop"
    sized = found.sized(chosen, changes)
    designed = design or sized.design
    cases = found.cases(chosen, changes)
    return found, Sweep(found.name, found.called(chosen, changes, designed), cases, sized.span), designed


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
