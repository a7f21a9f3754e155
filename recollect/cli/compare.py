"""`recollect compare`: a mixer of yours beside others, from its contract to a figure."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.display.compared import explain, show
from recollect.cli.display.console import tell
from recollect.cli.display.searching import search_cells
from recollect.cli.display.watch import preflight_here, refuse
from recollect.cli.options import Json, Like, Noncausal, Sets, StorePath, check_dry, check_folder, overrides, whole
from recollect.cli.options.executor import How
from recollect.cli.options.figure import Printed
from recollect.cli.options.names import MixerName
from recollect.errors import BadInput
from recollect.report.kind import check_panels
from recollect.spec.like import told
from recollect.store import DEFAULT, Contents, Store
from recollect.studies import Changes
from recollect.sweep.comparison import NAME, Comparison
from recollect.sweep.searching import stored
from recollect.training.costs import check_memory
from recollect.window.tuned import MOST


def compare(
    *mixers: MixerName,
    against: Annotated[
        tuple[str, ...],
        Parameter(
            consume_multiple=True,
            negative=(),
            help="the other models (attention,attention mamba deltanet); commas join the layers of one",
        ),
    ] = (),
    scale: Annotated[Literal["smoke", "laptop", "desk"], Parameter(help="how large the runs are")] = "laptop",
    like: Like = "",
    d_model: Annotated[
        int | None, Parameter(converter=whole, help="width; a half and a fourth of it are tried too (64)")
    ] = None,
    set_: Sets = (),
    allow_noncausal: Noncausal = False,
    max_runs: Annotated[int, Parameter(converter=whole, help="of the search of each model, at most")] = MOST,
    how: How = How(),  # noqa: B008
    dry_run: Annotated[
        bool, Parameter(negative=(), help="say what would be done and how long it may take; do nothing")
    ] = False,
    store: StorePath = DEFAULT,
    out: Annotated[Path, Parameter(help="the folder for figure, tables and page")] = Path("figures"),
    printed: Printed = Printed(),  # noqa: B008
    json_: Json = False,
) -> int:
    """Put your mixer beside others: window, accuracy against width, speed, memory and state; one table, one figure.

    Every model's learning rates are searched, then three seeds tell what it reaches at the best one; at a half and a
    fourth of the width it is tried at three rates about that one. Runs of the usual others come with recollect: only
    yours is trained. It may be stopped and repeated at will. Exit code 1 where a run raised or was lost.

    For example:

    recollect compare my.py:Mixer

    recollect compare my.py:Mixer --like attention --against attention,attention gated_deltanet

    recollect compare my.py:Mixer,my.py:Mixer other.py:Mixer --dry-run

    Parameters
    ----------
    mixers
        `path/to/file.py:Class`, or names (`recollect list mixers`). Mixers joined by commas are one model, one mixer
        per layer.
    """
    how.check()
    check_dry(dry_run, json_)
    if max_runs < 1:
        raise BadInput(f"--max-runs: must be at least 1 (got {max_runs})")
    fields = overrides({"model.noncausal": allow_noncausal or None}, set_)
    changes = Changes(fields, widths=() if d_model is None else (d_model,), like=like)
    comparison = Comparison.of(mixers, against, scale, changes, max_runs)
    brought = [name for mixer in mixers for name in mixer.split(",")]
    check_folder(out)
    drawn = printed.read()
    check_panels(NAME, (), drawn.panels)
    specs = [cell.spec for _, cell in comparison.cells]
    if dry_run:
        refuse(specs)
    searching = comparison.searching()
    left = explain(comparison, stored(store, searching), store, how.at_once(specs), quiet=json_)
    choice = told(comparison.study.scales[scale].protocol, comparison.study.task, brought, like)
    if dry_run:
        if choice:
            tell(choice, stderr=True)
        return 0
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, choice)
    with how.logs(store) as logs, closing(how.make(specs if left else [])) as executor:
        opened = Store(store, create=True)
        comparison.borrow(opened)
        bad = search_cells(searching, opened, executor, logs)
    table = show(comparison, Contents(opened), out, drawn, quiet=json_)
    if json_:
        print(json.dumps(json.loads(table.to_json(orient="records"))))
    return 1 if bad else 0
