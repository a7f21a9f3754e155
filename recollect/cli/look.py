"""`recollect list | show | diff`: look things up."""

import json
import sys
from typing import Any, Literal

from rich.markup import escape
from rich.table import Table

from recollect.cli.live import summary, table_console
from recollect.cli.options import Json, StorePath
from recollect.compose import flatten
from recollect.errors import BadInput
from recollect.protocols import PROTOCOLS
from recollect.spec import MIXER_OPTIONS, TASK_OPTIONS, Frozen
from recollect.store import DEFAULT, Record, Store

Shelf = Literal["tasks", "mixers", "protocols", "studies", "runs"]


def list_(what: Shelf | None = None, /, *, store: StorePath = DEFAULT) -> None:
    """List tasks, mixers with their options, protocols, studies, or the runs of a store; without a name, all names.

    Parameters
    ----------
    what
        tasks, mixers, protocols, studies or runs.
    """
    console = table_console()
    if what == "runs":
        console.print(runs_table(Store(store).records()))
    elif what is None:
        for name, shelf in SHELVES.items():
            console.print(f"[bold]{name}[/bold]  {', '.join(shelf)}")
        console.print("`recollect list mixers` and so on say more; `recollect list runs` shows a store.")
    elif what == "studies":
        from recollect.cli.studies import studies_list

        console.print(studies_list())
    elif what in ("tasks", "mixers"):
        console.print(options_table(TASK_OPTIONS if what == "tasks" else MIXER_OPTIONS))
    else:
        for name, text in SHELVES[what].items():
            console.print(f"[bold]{name}[/bold]  {text}")


def _studies() -> dict[str, str]:
    from recollect.studies import STUDIES

    return {name: study.question for name, study in STUDIES.items()}


SHELVES: dict[str, dict[str, str]] = {
    "tasks": {name: kind.__doc__ or "" for name, kind in TASK_OPTIONS.items()},
    "mixers": {name: kind.__doc__ or "" for name, kind in MIXER_OPTIONS.items()},
    "protocols": {name: protocol.about for name, protocol in PROTOCOLS.items()},
    "studies": _studies(),
}


def options_table(kinds: Any) -> Table:
    """Name, what it is, its options with defaults; for mixers also the paper and the state's size."""
    table = Table("name", "what it is", "options", box=None, pad_edge=False)
    for name, kind in kinds.items():
        lines = [f"{key}={show_value(field.default)}  {field.description or ''}" for key, field in own(kind).items()]
        about = (kind.__doc__ or "").strip().splitlines()[0]
        if "paper" in vars(kind):
            about += f"\n{kind.paper}; state {kind.state}"
        table.add_row(name, about, "\n".join(lines), end_section=True)
    return table


def own(kind: type[Frozen]) -> dict[str, Any]:
    """The fields of an option class, without its name."""
    return {key: field for key, field in kind.model_fields.items() if key != "name"}


def show_value(value: Any) -> str:
    """A default in a table; None means that it follows from the model."""
    return "auto" if value is None else str(value)


def runs_table(records: list[Record]) -> Table:
    """A line per run."""
    table = Table(
        "run", "task", "mixer", "layers", "d", "lr", "seed", "status", "outcome", "test", box=None, pad_edge=False
    )
    for record in records:
        spec, result = record.spec, record.result or {}
        test = result.get("test_accuracy")
        names = ",".join(dict.fromkeys(mixer.name for mixer in spec.model.mixers))
        table.add_row(
            *(record.id, spec.task.name, names, str(spec.model.n_layers), str(spec.model.d_model)),
            *(f"{spec.train.lr:g}", str(spec.seed), record.status, record.outcome or ""),
            "" if test is None else f"{test:.1%}",
        )
    return table


def show(what: str, /, *, store: StorePath = DEFAULT, json_: Json = False) -> None:
    """Show one run, with its result, its complete spec and where it ran; or all runs of one cell.

    Parameters
    ----------
    what
        A run's id or a cell's, or its beginning.
    """
    opened = Store(store)
    cell = opened.find_cell(what)
    try:
        records, is_cell = [opened.find(what)], False
    except BadInput:
        if not cell:
            raise
        records, is_cell = cell, True
    if json_:
        plain = [record.to_json() for record in records]
        json.dump(plain if is_cell else plain[0], sys.stdout)
        print()
    elif is_cell:
        show_cell(records)
    else:
        show_run(records[0])


def show_run(record: Record) -> None:
    """Result, error, spec, provenance."""
    for line in summary(record):
        print(line)
    if record.error:
        print(record.error.rstrip())
    print(f"  cell {record.cell}, attempt {record.attempt}")
    for key, value in flatten(record.spec.model_dump(mode="json")).items():
        print(f"  {key} = {json.dumps(value)}")
    print("  " + ", ".join(f"{key} {value}" for key, value in record.provenance.items()))


def show_cell(records: list[Record]) -> None:
    """What the runs share, then a line per learning rate and seed."""
    first = records[0]
    print(f"cell {first.cell}: {len(records)} runs, {sum(record.status == 'done' for record in records)} of them done")
    for key, value in flatten(first.spec.model_dump(mode="json")).items():
        if key not in ("train.lr", "seed"):
            print(f"  {key} = {json.dumps(value)}")
    table_console().print(runs_table(sorted(records, key=lambda record: (record.spec.train.lr, record.spec.seed))))


def diff(one: str, other: str, /, *, store: StorePath = DEFAULT) -> None:
    """Show in which fields two runs differ, and how each ended.

    Parameters
    ----------
    one
        A run's id, or its beginning.
    other
        Another run's.
    """
    opened = Store(store)
    records = [opened.find(one), opened.find(other)]
    flat = [flatten(record.spec.model_dump(mode="json")) for record in records]
    table = Table("field", *(record.id for record in records), box=None, pad_edge=False)
    for key in dict.fromkeys([*flat[0], *flat[1]]):
        if flat[0].get(key) != flat[1].get(key):
            table.add_row(key, *(escape(json.dumps(side.get(key))) for side in flat))
    for key in ("outcome", "test_accuracy", "steps"):
        table.add_row(key, *(json.dumps((record.result or {}).get(key)) for record in records), style="bold")
    table_console().print(table)
