"""`recollect claims`: the paper's statements and what the store says of them."""

import json
import sys
from collections import Counter
from typing import Annotated

from cyclopts import Parameter
from rich.markup import escape
from rich.table import Table

from recollect.claims import CLAIMS, Evidence, Verdict, ledger
from recollect.cli.display.live import table_console
from recollect.cli.options import Json, StorePath, whole
from recollect.cli.report import SelectOn
from recollect.errors import BadInput
from recollect.store import DEFAULT, Contents, NoStore, Store
from recollect.window.select import Select

COLOURS: dict[str, str] = {"supported": "green", "contradicted": "red", "open": "dim"}


def claims(
    *numbers: Annotated[int, Parameter(converter=whole)],
    store: StorePath = DEFAULT,
    rules: Annotated[bool, Parameter(negative=(), help="also show the rule by which each is judged")] = False,
    select: SelectOn = "validation",
    json_: Json = False,
) -> None:
    """Judge the paper's claims by the runs in the store: supported, contradicted or open, with the numbers behind it.

    The rules were fixed before any run that they judge; a verdict holds for the scale and budget that it names.

    For example:

    recollect claims

    recollect claims 28 29 30 --rules

    recollect claims --json

    Parameters
    ----------
    numbers
        Only these claims.
    """
    for number in numbers:
        if number not in CLAIMS:
            raise BadInput(f"claims: there is no claim {number}; allowed: 1 to {max(CLAIMS)}")
    found = [verdict for verdict in judged(store, select) if not numbers or verdict.claim.number in numbers]
    if json_:
        json.dump([verdict.to_json() for verdict in found], sys.stdout)
        print()
        return
    print_verdicts(found, rules)


def judged(store: StorePath, select: Select) -> list[Verdict]:
    """The ledger; without a store everything is open."""
    try:
        return ledger(Contents(Store(store)), select)
    except NoStore:
        return [claim.judge(Evidence("", "", {})) for claim in CLAIMS.values()]


def print_verdicts(verdicts: list[Verdict], rules: bool = False) -> None:
    """The table of them and their count; nothing where there are none."""
    if not verdicts:
        return
    table_console().print(ledger_table(verdicts, rules))
    words = Counter[str](verdict.finding.word for verdict in verdicts)
    print(", ".join(f"{words[word]} {word}" for word in COLOURS))


def ledger_table(verdicts: list[Verdict], rules: bool) -> Table:
    """A row per claim and scale."""
    table = Table("", "claim", "paper", "study", "verdict", box=None, pad_edge=False)
    for verdict in verdicts:
        claim, colour = verdict.claim, COLOURS[verdict.finding.word]
        statement = claim.statement + (f"\n[dim]{escape(claim.rule)}[/dim]" if rules else "")
        judged = f"[{colour}]{verdict.finding.word}[/{colour}] {escape(verdict.basis())}"
        table.add_row(str(claim.number), statement, escape(f"{claim.paper} ({claim.where})"), claim.study, judged)
    return table
