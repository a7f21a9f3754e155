"""The report of a store as files: figures and tables of its studies, a table of all cells, one HTML page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from recollect.report.cells import cell_rows
from recollect.report.figures import FIGURES, PAPER, Print, draw_runs, save
from recollect.report.html import html
from recollect.report.page import ClaimRow, Page, StudyCard, page
from recollect.report.tables import ENDINGS, table_text
from recollect.spec.files import safe_name
from recollect.store import Contents, Record
from recollect.window.select import Select

Format = Literal["html", "pdf", "svg", "png", "latex", "csv", "markdown"]
USUAL: tuple[Format, ...] = ("html", "pdf", "latex", "csv", "markdown")
IMAGES = ("pdf", "svg", "png")


def write_report(
    contents: Contents,
    out: Path,
    formats: Sequence[Format] = USUAL,
    study: str | None = None,
    claims: Sequence[ClaimRow] = (),
    select: Select = "validation",
    how: Print = PAPER,
) -> list[Path]:
    """Write what was asked for; the files, the page first."""
    contents.check_study(study, "--study")
    how.check()
    value = page(contents, study, claims, select)
    for card in value.studies:
        FIGURES[card.kind].check(how.panels)
    out.mkdir(parents=True, exist_ok=True)
    files = []
    if "html" in formats:
        files.append(out / "report.html")
        files[0].write_text(html(value), encoding="utf-8")
    taken = ["cells", "report"]
    for card in value.studies:
        taken.append(safe_name(_file_name(card, value), taken))
        files += _write_study(card, taken[-1], out, formats, select, how)
    return files + _write_tables(contents.records(study), {}, "cells", out, formats, select)


def _file_name(card: StudyCard, value: Page) -> str:
    """The study's name; with the scale where the store has it at several."""
    scales = [other for other in value.studies if other.name == card.name]
    return card.name if len(scales) == 1 else f"{card.name}-{card.scale.replace(' ', '-')}"


def _write_study(
    card: StudyCard, name: str, out: Path, formats: Sequence[Format], select: Select, how: Print
) -> list[Path]:
    files, endings = list[Path](), [form for form in formats if form in IMAGES]
    if endings:
        files = save(draw_runs(FIGURES[card.kind], card.runs, card.title, how), out, name, endings, how.style)
    return files + _write_tables(card.runs.records, card.labels, name, out, formats, select)


def _write_tables(
    records: Sequence[Record], labels: dict[str, str], name: str, out: Path, formats: Sequence[Format], select: Select
) -> list[Path]:
    wanted = {form: out / f"{name}.{ending}" for form, ending in ENDINGS.items() if form in formats}
    rows = cell_rows(records, labels, select) if wanted else []
    for form, file in wanted.items():
        file.write_text(table_text(rows, form), encoding="utf-8")
    return list(wanted.values())
