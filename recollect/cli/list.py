"""`recollect list`: tasks, mixers, protocols, studies, or the runs of a store."""

from collections.abc import Iterable
from typing import Any, Literal

from rich.table import Table

from recollect.cli.display.live import table_console
from recollect.cli.display.runs import runs_list
from recollect.cli.options import StorePath
from recollect.errors import plain
from recollect.spec import MIXERS, TASKS, Frozen, MixerOptions
from recollect.spec.mixers.options import families, own_forms
from recollect.spec.protocols import PROTOCOLS
from recollect.store import DEFAULT, Store

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
        opened = Store(store)
        print(*runs_list(opened.lines()), sep="\n")
        for run, why in opened.unreadable.items():
            console.print(plain(f"{run[:40]} cannot be read: {why}"), markup=False)
    elif what is None:
        for name, shelf in SHELVES.items():
            console.print(f"[bold]{name}[/bold]  {', '.join(shelf)}")
        console.print("`recollect list mixers` and so on say more; `recollect list runs` shows a store.")
    elif what == "studies":
        from recollect.cli.display.studies import studies_list

        console.print(studies_list())
    elif what == "tasks":
        console.print(options_table(TASKS.values()))
    elif what == "mixers":
        for (family, about), kinds in families(MIXERS.values()).items():
            console.print(f"[bold]{family}[/bold]  {about}")
            console.print(options_table(kinds), "")
    else:
        for name, text in SHELVES[what].items():
            console.print(f"[bold]{name}[/bold]  {text}")


def _studies() -> dict[str, str]:
    from recollect.studies import STUDIES

    return {name: study.question for name, study in STUDIES.items()}


SHELVES: dict[str, dict[str, str]] = {
    "tasks": {name: kind.__doc__ or "" for name, kind in TASKS.items()},
    "mixers": {name: kind.__doc__ or "" for name, kind in MIXERS.items()},
    "protocols": {name: protocol.about for name, protocol in PROTOCOLS.items()},
    "studies": _studies(),
}


def options_table(kinds: Iterable[Any]) -> Table:
    """Name, what it is, its options with defaults; for mixers also paper, state and what their ops have."""
    table = Table("name", "what it is", "options", box=None, pad_edge=False)
    for kind in kinds:
        lines = [f"{key}={show_value(field.default)}  {field.description or ''}" for key, field in own(kind).items()]
        about = (kind.__doc__ or "").strip().splitlines()[0]
        if issubclass(kind, MixerOptions):
            ops = ", ".join(f"{op} ({', '.join(own_forms(op))})" for op in kind().uses())
            about += f"\n{kind.card.paper}; state {kind.card.state}\nkernels: {ops}"
        table.add_row(kind.model_fields["name"].default, about, "\n".join(lines), end_section=True)
    return table


def own(kind: type[Frozen]) -> dict[str, Any]:
    """The fields of an option class, without its name."""
    return {key: field for key, field in kind.model_fields.items() if key != "name"}


def show_value(value: Any) -> str:
    """A default in a table; None means that it follows from the model."""
    return "auto" if value is None else str(value)
