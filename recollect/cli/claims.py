"""`recollect claims`: the paper's statements and what the store says of them."""

import json
import sys
from collections import Counter
from typing import Annotated

from cyclopts import Parameter
from rich.table import Column, Table
from rich.text import Text

from recollect.claims import CLAIMS, OWN, Verdict, ledger
from recollect.cli.display.console import console, width
from recollect.cli.options import Json, StorePath, whole
from recollect.cli.report import SelectOn
from recollect.errors import BadInput
from recollect.store import DEFAULT, Contents, Store

COLOURS: dict[str, str] = {"supported": "green", "contradicted": "red", "open": "dim"}


def claims(
    *numbers: Annotated[int, Parameter(converter=whole)],
    store: StorePath = DEFAULT,
    long: Annotated[
        bool, Parameter(negative=(), help="also where the paper says it, and the numbers behind it")
    ] = False,
    rules: Annotated[bool, Parameter(negative=(), help="all that, and the rule by which each is judged")] = False,
    own: Annotated[bool, Parameter(negative=(), help="our own claims instead of the paper's")] = False,
    select: SelectOn = "validation",
    json_: Json = False,
) -> None:
    """Judge the paper's claims by the runs in the store: supported, contradicted or open; a tally at the end.

    A verdict holds for the scale and budget that it names, by the version of its rule (docs/decisions/0007-rules.md).

    For example:

    recollect claims

    recollect claims --long

    recollect claims 28 29 30 --rules

    recollect claims --own --rules

    recollect claims --json

    Parameters
    ----------
    numbers
        Only these claims.
    """
    for number in numbers:
        if number not in CLAIMS:
            raise BadInput(f"claims: there is no claim {number}; allowed: 1 to {len(CLAIMS)}")
    if own and numbers:
        raise BadInput("claims: the numbers are those of the paper's claims; leave out --own")
    judged = ledger(Contents(Store(store)), select, claims=OWN if own else CLAIMS)
    found = [verdict for verdict in judged if not numbers or verdict.claim.number in numbers]
    if json_:
        json.dump([verdict.to_json() for verdict in found], sys.stdout)
        print()
        return
    print_verdicts(found, long=long, rules=rules)


def print_verdicts(verdicts: list[Verdict], *, long: bool = False, rules: bool = False) -> None:
    """The table of them and their count; nothing where there are none."""
    if not verdicts:
        return
    console().print(long_table(verdicts, rules) if long or rules else short_table(verdicts))
    words = Counter[str](verdict.finding.word for verdict in verdicts)
    print(", ".join(f"{words[word]} {word}" for word in COLOURS))


def short_table(verdicts: list[Verdict]) -> Table:
    """A line per claim and scale; what is too long for its column is cut, numbers and verdicts never are."""
    marks, scales = max(len(v.claim.mark) for v in verdicts), max(len(v.evidence.scale) for v in verdicts)
    widths = {"": marks, "verdict": max(map(len, COLOURS)), "scale": max(5, min(width() // 5, scales))}
    widths["claim"] = max(5, width() - sum(widths.values()) - 2 * len(widths))
    table = Table(*(Column(name, width=n, no_wrap=True) for name, n in widths.items()), box=None, pad_edge=False)
    for verdict in verdicts:
        told = Text(verdict.finding.word, COLOURS[verdict.finding.word])
        table.add_row(verdict.claim.mark, told, verdict.evidence.scale, verdict.claim.statement)
    return table


def long_table(verdicts: list[Verdict], rules: bool) -> Table:
    """All that is known of each."""
    table = Table("", "claim", "paper", "study", "verdict", box=None, pad_edge=False)
    for verdict in verdicts:
        claim, word = verdict.claim, verdict.finding.word
        statement = Text(claim.statement)
        if rules:
            statement.append(f"\n{claim.rule}", "dim")
        told = Text.assemble((word, COLOURS[word]), f" {verdict.basis()}")
        table.add_row(claim.mark, statement, f"{claim.paper} ({claim.where})", claim.study, told)
    return table
