"""`recollect run`: a study or a sweep file, from its runs to its figure."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.display.console import tell
from recollect.cli.options import Diagnostics, Like, Noncausal, Probe, Sets, StorePath, check_folder, read_sets, whole
from recollect.cli.options.executor import How
from recollect.cli.options.figure import Printed
from recollect.cli.options.names import StudyName
from recollect.cli.options.watch import watch_of
from recollect.cli.running.carry import search, train
from recollect.cli.running.choose import after_shards, left, pick, sharded
from recollect.cli.running.order import Order, check_counts, check_print, find
from recollect.errors import BadInput
from recollect.spec.like import roles, told
from recollect.store import DEFAULT
from recollect.studies import Changes, Design
from recollect.sweep.shards import Shard
from recollect.window.tuned import MOST, USUAL

SEVERAL = {"train.lr": "--lrs", "seed": "--seeds"}
"""What a study varies itself, and the option that says otherwise."""


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
        for key in fields.keys() & SEVERAL.keys():
            raise BadInput(f"--set {key}: a study has several; {SEVERAL[key]} names others")
        if self.widths and "model.d_model" in fields:
            raise BadInput("--set model.d_model: --widths gives it already; leave one out")
        return Changes(fields, self.mixers, self.widths, self.lrs, self.seeds, self.like)


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
    watch = watch_of([case.spec for case in chosen], inside, diagnostics) if designed != "window" else None
    if shard is not None:
        part = Shard.read(shard)
        path = part.store(store)
        chosen = left(what, part.cut(chosen, designed), designed, store, max_runs, watch)
        found, what = None, sharded(what, part, designed)
        tell(f"shard {part} of {what.name}: all its runs are done" if not chosen else after_shards(part, store))
        if not chosen:
            return 0
    if dry_run and choice:
        tell(choice, stderr=True)
    order = Order(found, what, how, path, out, printed, choice, dry_run)
    if designed == "window":
        if probe or diagnostics:
            asked = "--probe" if probe else "--diagnostics"
            raise BadInput(f"{asked}: a search does not look inside; add --design best or --design every")
        return search(order, what.tuned(chosen if shard else what.cases, max_runs), chosen)
    return train(order, chosen, designed, limit, watch)
