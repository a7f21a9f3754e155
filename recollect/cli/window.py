"""`recollect window`: find the range of learning rates in which a model learns, with few runs."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from recollect.cli.display.console import tell
from recollect.cli.display.searching import search_cells
from recollect.cli.display.watch import preflight_here, refuse
from recollect.cli.options import (
    Json,
    Like,
    Noncausal,
    Sets,
    StorePath,
    WholeModel,
    check_dry,
    check_folder,
    overrides,
    whole,
)
from recollect.cli.options.executor import How
from recollect.cli.options.figure import Printed
from recollect.cli.options.names import MixerName, ProtocolName, TaskName
from recollect.cli.options.vary import Vary, read_vary
from recollect.errors import BadInput
from recollect.spec import MIXERS, RunSpec
from recollect.spec.compose import make_spec
from recollect.spec.like import roles, told
from recollect.spec.names import WHOLE
from recollect.spec.sources import is_code
from recollect.store import DEFAULT, DONE, Store
from recollect.sweep.labels import label
from recollect.sweep.searching import Searching, stored
from recollect.training.costs import check_memory
from recollect.window import THRESHOLD, CellSearch, Search, Searches, find

STUDY = "window"
"""The study that searched runs belong to."""

NOTHING = Vary()
SHOWN = 7
"""How many of the next runs a dry run names."""

CHOSEN = {"train.lr": "give its range by --low and --high", "seed": "--first-seed sets where they begin"}
"""The fields that the search chooses, and what to do instead of setting them."""


def window(
    task: TaskName,
    /,
    *mixers: MixerName,
    model: WholeModel = None,
    like: Like = "",
    d_model: Annotated[int | None, Parameter(converter=whole, help="width")] = None,
    n_layers: Annotated[int | None, Parameter(converter=whole, help="blocks")] = None,
    steps: Annotated[
        int | None, Parameter(converter=whole, help="the budget of every run; a window is a window at so many steps")
    ] = None,
    protocol: Annotated[
        ProtocolName, Parameter(help="a preset of everything else; `recollect protocols` lists them")
    ] = "laptop",
    set_: Sets = (),
    vary: Annotated[
        str, Parameter(help="one search for every value, as train.lr_dynamics=1,0.1,0.03; does it widen the window?")
    ] = "",
    allow_noncausal: Noncausal = False,
    spec: Annotated[Path | None, Parameter(help="a YAML file of fields that override the protocol's")] = None,
    low: Annotated[float, Parameter(help="the lowest learning rate")] = 1e-5,
    high: Annotated[float, Parameter(help="the highest learning rate")] = 1e-1,
    max_runs: Annotated[
        int, Parameter(converter=whole, help="of each cell, those included that the store already has")
    ] = 40,
    tolerance: Annotated[
        float, Parameter(help="stop once the 90 % interval of both edges is this short, in decades")
    ] = 0.1,
    threshold: Annotated[float, Parameter(help="the validation accuracy from which on a run succeeds")] = THRESHOLD,
    first_seed: Annotated[int, Parameter(converter=whole, help="every run has a new seed, from this one on")] = 0,
    how: How = How(),  # noqa: B008
    dry_run: Annotated[
        bool, Parameter(negative=(), help="say what would be done and how long it may take; do nothing")
    ] = False,
    store: StorePath = DEFAULT,
    out: Annotated[Path, Parameter(help="the folder for the figure")] = Path("figures"),
    printed: Printed = Printed(),  # noqa: B008
    json_: Json = False,
) -> int:
    """Find the range of learning rates in which a model learns, with few runs.

    It is the range in which at least half of the seeds succeed within the budget. Each next run goes where it tells
    most about the two edges; finished runs of the same cell in the store are used, wherever they came from. It may be
    stopped and repeated at will. Exit code 1 where a run raised or was lost.

    For example:

    recollect window mqar mamba --d-model 64 --n-layers 2

    recollect window mqar attention,attention mamba deltanet --n-layers 1 --max-runs 30

    recollect window mqar my.py:Mixer --low 1e-4 --high 1e-2 --tolerance 0.2 --dry-run

    recollect window mqar mamba --vary train.lr_dynamics=1,0.1,0.03 --max-runs 24

    Parameters
    ----------
    task
        What is asked: mqar, copy, ... (`recollect list tasks`), or `path/to/file.py:Class` for your own.
    mixers
        One or several names (`recollect list mixers`) or `path/to/file.py:Class`. Mixers joined by commas are one
        model, one mixer per layer, whatever --n-layers says.
    """
    how.check()
    check_dry(dry_run, json_)
    search = Search(low, high, max_runs, tolerance, threshold, first_seed)
    short = {"model.d_model": d_model, "model.n_layers": n_layers, "train.steps": steps}
    short["model.noncausal"] = allow_noncausal or None
    if model is not None:
        mixers = (*mixers, f"{WHOLE}{model}")
    given = overrides(short, set_, spec)
    cells, against = make_cells(task, mixers, given, protocol, search, read_vary(vary), like)
    choice = told(protocol, task, [name for mixer in mixers for name in mixer.split(",")], like)
    check_folder(out)
    specs = [cell.spec for cell in cells.values()]
    if dry_run:
        refuse(specs)
        explain(cells, store, how.at_once(specs))
        if choice:
            tell(choice, stderr=True)
        return 0
    from recollect.report.window import check_windows

    drawn = printed.read()
    check_windows(drawn.panels)
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, choice)
    searching = Searching(STUDY, "", list(cells.items()))
    wanted = Searches(tuple(cells.values())).next(stored(store, searching), [])
    with how.logs(store) as logs, closing(how.make(specs if wanted else [])) as executor:
        opened = Store(store, create=True)
        bad = search_cells(searching, opened, executor, logs)
    done = {cell.spec.cell: opened.records(cell=cell.spec.cell, status=DONE) for cell in cells.values()}
    searched = {name: find(name, cell, done[cell.spec.cell]) for name, cell in cells.items()}
    for name in [name for name, one in searched.items() if one is None]:
        print(f"{name}: no finished run", file=sys.stderr if json_ else sys.stdout)
    found = [one for one in searched.values() if one is not None]
    if found:
        from recollect.cli.display.found import show_found

        show_found(found, out, drawn, against, plain=json_)
    return 1 if bad or len(found) < len(cells) else 0


def make_cells(
    task: str,
    mixers: Sequence[str],
    given: dict[str, Any],
    protocol: str,
    search: Search,
    vary: Vary = NOTHING,
    like: str = "",
) -> tuple[dict[str, CellSearch], dict[str, str]]:
    """Label -> search, one for each mixer and value; and label -> the label that it is compared with."""
    if not mixers:
        raise BadInput("window: name at least one mixer, as in `recollect window mqar attention`")
    for key in CHOSEN.keys() & {*given, vary.name}:
        raise BadInput(f"window: {key} is what the search chooses; {CHOSEN[key]}")
    everyone = [name for mixer in mixers for name in mixer.split(",")]
    roles(everyone, like, "window")
    models = [
        vary.specs(given, partial(make_one, task, mixer.split(","), everyone=everyone, protocol=protocol, like=like))
        for mixer in mixers
    ]
    if vary.values and all(len(specs) == 1 for specs in models):
        raise BadInput(f"--vary {vary.name}: its values make no difference to {', '.join(mixers)}")
    for i, (mixer, specs) in enumerate(zip(mixers, models, strict=True)):
        if {spec.cell for spec in specs} & {other.cell for others in models[:i] for other in others}:
            raise BadInput(f"window: '{mixer}' names a model that is already there; give every model once")
    cases = label([spec for specs in models for spec in specs])
    labels = {case.spec.cell: case.label for case in cases}
    against = {labels[spec.cell]: labels[specs[0].cell] for specs in models for spec in specs[1:]}
    return {case.label: CellSearch(case.spec, search) for case in cases}, against


def make_one(
    task: str, names: list[str], given: dict[str, Any], everyone: Sequence[str], protocol: str, like: str
) -> RunSpec:
    """The spec of one model; layers that are all alike are the same model as a mixer with so many layers."""
    fields = {key: value for key, value in given.items() if concerns(key, names, everyone)}
    if len(names) > 1:
        fields["model.n_layers"] = len(names)
    mixer, own = names if len(set(names)) > 1 else names[0], like if any(map(is_code, names)) else ""
    return make_spec(task, mixer, fields, protocol=protocol, like=own, where="window")


def concerns(key: str, names: Sequence[str], everyone: Sequence[str]) -> bool:
    """Whether a field is for this model: options that only some of several mixers know are for those."""
    option = key.removeprefix("model.mixer.")
    owners = {name for name in everyone if name in MIXERS and option in MIXERS[name].model_fields}
    return option == key or not owners or bool(owners & set(names))


def explain(cells: Mapping[str, CellSearch], path: Path, workers: int) -> None:
    """What would be done: the runs that come first, and the most that all of them may take."""
    from recollect.cli.display.dry import print_costs

    known, todo = stored(path, Searching(STUDY, "", list(cells.items()))), list[RunSpec]()
    most = sum(cell.search.max_runs for cell in cells.values())
    tell(f"window: at most {most} runs in {len(cells)} cell{'s' * (len(cells) > 1)}  store {path}")
    for name, cell in cells.items():
        first = replace(cell, ahead=SHOWN).next(known, [])
        spent = cell.spent(known, [])
        todo += [cell.spec] * (cell.search.max_runs - spent if first else 0)
        lrs = ", ".join(f"{spec.train.lr:.3g}" for spec in first)
        tell(f"  {name}: {spent} runs are there; {f'the next ones are at lr {lrs}' if first else 'the search is over'}")
    if todo:
        print_costs(todo, path, workers)
