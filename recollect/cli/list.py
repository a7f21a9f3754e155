"""`recollect list`: tasks, mixers, protocols, studies, or the runs of a store."""

import sys
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.text import Text

from recollect.claims import CLAIMS
from recollect.cli.display.console import console, tell
from recollect.cli.display.runs import runs_list
from recollect.cli.options import StorePath
from recollect.cli.options.chosen import Chosen
from recollect.errors import BadInput, plain
from recollect.spec import MIXERS, TASKS, Frozen, MixerOptions
from recollect.spec.mixers.options import families, own_forms
from recollect.spec.protocols import PROTOCOLS
from recollect.store import DEFAULT, Store

Shelf = Literal["tasks", "mixers", "protocols", "studies", "claims", "runs"]


def list_(
    what: Shelf | None = None,
    /,
    *,
    chosen: Chosen = Chosen(),  # noqa: B008
    long: Annotated[bool, Parameter(negative=(), help="of studies: what each scale makes smaller")] = False,
    store: StorePath = DEFAULT,
) -> None:
    """List tasks, mixers with their options, protocols, studies, claims, or the runs of a store; else all names.

    For example:

    recollect list mixers

    recollect list runs --study fig1 --mixer mamba --outcome solved

    Parameters
    ----------
    what
        tasks, mixers, protocols, studies, claims or runs.
    """
    if long and what != "studies":
        raise BadInput("list: --long is for `recollect list studies`")
    if what != "runs" and chosen != Chosen():
        raise BadInput(f"list {what or ''}: filters are for `recollect list runs`".replace(" :", ":"))
    if what == "runs":
        list_runs(Store(store), chosen)
    elif what is None:
        for name, shelf in SHELVES.items():
            entry(name, ", ".join(shelf))
        tell("`recollect list mixers` and so on say more; `recollect list runs` shows a store.")
    elif what == "studies":
        from recollect.cli.display.studies import studies_list

        console().print(studies_list(long=long))
        if not long:
            tell("", "Times are for 2 cores; `recollect list studies --long` says what each scale makes smaller.")
    elif what == "tasks":
        for task in TASKS.values():
            describe(task)
    elif what == "mixers":
        for (family, about), kinds in families(MIXERS.values()).items():
            entry(family, about)
            print()
            for mixer in kinds:
                describe(mixer)
    else:
        for name, text in SHELVES[what].items():
            entry(name, text)


def list_runs(store: Store, chosen: Chosen) -> None:
    """A line per run that the filters let through, then those that cannot be read."""
    store.check_study(chosen.study, "--study")
    lines = store.lines(study=chosen.study)
    found = chosen.among(lines)
    if lines and not found:
        print(f"none of the {len(lines)} runs is like that", file=sys.stderr)
    print(*runs_list(found), sep="\n")
    for run, why in store.unreadable.items():
        tell(plain(f"{run[:40]} cannot be read: {why}"))


def entry(name: str, about: str) -> None:
    """A name and what it is."""
    console().print(Text.assemble((name, "bold"), f"  {about}"))


def _studies() -> dict[str, str]:
    from recollect.studies import STUDIES

    return {name: study.question for name, study in STUDIES.items()}


SHELVES: dict[str, dict[str, str]] = {
    "tasks": {name: kind.__doc__ or "" for name, kind in TASKS.items()},
    "mixers": {name: kind.__doc__ or "" for name, kind in MIXERS.items()},
    "protocols": {name: protocol.about for name, protocol in PROTOCOLS.items()},
    "studies": _studies(),
    "claims": {str(number): claim.statement for number, claim in CLAIMS.items()},
}


def describe(kind: type[Any]) -> None:
    """Name, what it is, its options with defaults; for mixers also paper, state and what their ops have."""
    entry(kind.model_fields["name"].default, (kind.__doc__ or "").strip().splitlines()[0])
    if issubclass(kind, MixerOptions):
        ops = ", ".join(f"{op} ({', '.join(own_forms(op))})" for op in kind.model_validate({}).uses())
        tell(f"  {kind.card.paper}; state {kind.card.state}; kernels: {ops}")
    given = {f"{key}={show_value(field.default)}": field.description or "" for key, field in own(kind).items()}
    wide = max(map(len, given), default=0)
    tell(*(f"    {name:{wide}}  {about}" for name, about in given.items()), "")


def own(kind: type[Frozen]) -> dict[str, Any]:
    """The fields of an option class, without its name."""
    return {key: field for key, field in kind.model_fields.items() if key != "name"}


def show_value(value: Any) -> str:
    """A default in a table; None means that it follows from the model."""
    return "auto" if value is None else str(value)
