"""`recollect report`: figures, tables and one page from a store."""

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from recollect.cli.options import StorePath, check_folder
from recollect.cli.options.figure import Printed
from recollect.errors import BadInput
from recollect.store import DEFAULT, Contents, Store
from recollect.window.select import Select

if TYPE_CHECKING:
    from recollect.claims import Verdict
    from recollect.report.layout import Print
    from recollect.report.page import ClaimRow

SelectOn = Annotated[Select, Parameter(help="the rows that choose the learning rate; the paper chose on test")]
Formats = tuple[Literal["html", "pdf", "svg", "png", "latex", "csv", "markdown"], ...]


def report(
    *,
    study: Annotated[str | None, Parameter(help="only this study")] = None,
    format_: Annotated[
        Formats,
        Parameter(name=["--format"], consume_multiple=True, negative=(), help="default: html pdf latex csv markdown"),
    ] = (),
    select: SelectOn = "validation",
    printed: Printed = Printed(),  # noqa: B008
    store: StorePath = DEFAULT,
    out: Annotated[Path, Parameter(help="the folder to write to")] = Path("report"),
    open_: Annotated[bool, Parameter(name=["--open"], negative=(), help="open the page in a browser")] = False,
) -> None:
    """Draw a store, finished or not: a figure and a table of every study, a table of all cells, one page to browse.

    For example:

    recollect report --open

    recollect report --study fig1 --format pdf latex --out paper

    recollect report --study fig1 --format pdf --width 3.25 --height 2 --no-title --no-note --panel main

    recollect report --study table2 --select test
    """
    check_folder(out)
    if open_ and format_ and "html" not in format_:
        raise BadInput(f"--open shows the page; add html to --format (got {' '.join(format_)})")
    files = make(Contents(Store(store)), out, format_, study, select, printed.read())
    for file in files:
        print(file)
    if open_:
        webbrowser.open(files[0].resolve().as_uri())


def make(
    contents: Contents, out: Path, formats: Formats, study: str | None, select: Select, how: "Print"
) -> list[Path]:
    """Write the report with the claims that the store has runs for; the files, the page first."""
    from recollect.claims import ledger
    from recollect.report.write import USUAL, write_report

    contents.check_study(study, "--study")
    verdicts = ledger(contents, select, None if study is None else (study,))
    return write_report(contents, out, formats or USUAL, study, claim_rows(verdicts), select, how)


def claim_rows(verdicts: "Sequence[Verdict]") -> "list[ClaimRow]":
    """What the page shows of verdicts that rest on runs."""
    from recollect.report.page import ClaimRow

    return [
        ClaimRow(
            number=verdict.claim.number,
            statement=verdict.claim.statement,
            paper=f"{verdict.claim.paper} ({verdict.claim.where})",
            verdict=verdict.finding.word,
            numbers=verdict.finding.numbers,
            scale=f"{verdict.evidence.scale} ({verdict.evidence.budget()}), rule {verdict.claim.version}",
        )
        for verdict in verdicts
        if verdict.evidence.runs
    ]
