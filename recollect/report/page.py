"""What the HTML page shows, as one plain value: studies, claims, cells, runs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.errors import plain
from recollect.report.cells import CellRow, cell_rows
from recollect.report.charts import (
    Chart,
    Charts,
    cells_chart,
    compare_charts,
    curve_charts,
    outcomes_chart,
    windows_chart,
)
from recollect.report.command import cell_command
from recollect.report.figures import FIGURES
from recollect.report.kind import FigureKind, Runs
from recollect.report.note import span
from recollect.report.probes import ProbeCard, probe_cards
from recollect.report.rows import Plain, cell_of, run_of
from recollect.report.style import mixer_colours
from recollect.spec.protocols import ZOOLOGY
from recollect.store import STATUSES, Contents, Record
from recollect.studies import STUDIES
from recollect.window.select import Labelled, Select

CURVES, ROWS = 3_000, 25_000
"""Runs that have their curves on the page, and runs that are listed there: a browser can hold so many."""


@dataclass(frozen=True)
class ClaimRow:
    """A statement of the paper and what the results say of it."""

    number: int
    statement: str
    paper: str
    verdict: str
    numbers: str
    scale: str


@dataclass(frozen=True)
class StudyCard:
    """A study at a scale: how far it is, how its runs ended, the charts that show it, and what its figure shows."""

    name: str
    scale: str
    title: str
    question: str
    note: str
    statuses: dict[str, int]
    outcomes: dict[str, int]
    kind: str
    charts: tuple[Chart, ...]
    labels: dict[str, str]  # run -> label
    runs: Runs


@dataclass(frozen=True)
class Page:
    """The whole page; `select` are the rows that chose the learning rates, `limits` says what it leaves out."""

    title: str
    select: Select
    limits: str
    statuses: dict[str, int]
    outcomes: dict[str, int]
    studies: tuple[StudyCard, ...]
    claims: tuple[ClaimRow, ...]
    cells: tuple[Plain, ...]
    probes: tuple[ProbeCard, ...]
    runs: tuple[Plain, ...]
    colours: dict[str, str]
    charts: dict[str, Any]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims are supported, contradicted, open."""
        return dict(Counter(claim.verdict.split(":")[0] for claim in self.claims).most_common())


def page(
    contents: Contents, study: str | None = None, claims: Sequence[ClaimRow] = (), select: Select = "validation"
) -> Page:
    """All runs of a store, or those of one study of it."""
    records = contents.records(study)
    wanted = sorted((pair for pair in contents.studies() if study in (None, pair[0])), key=_place)
    rows = sorted(cell_rows(records, select=select), key=_order)
    place = {row.cell: i for i, row in enumerate(rows)}
    commands = [cell_command(row.spec) for row in rows]
    ordered = sorted(records, key=lambda record: (place[record.cell], record.spec.train.lr, record.spec.seed))
    listed, drawn = _first(ordered, rows, ROWS), _first(ordered, rows, CURVES)
    runs = tuple(
        run_of(record, place[record.cell], commands[place[record.cell]], record.id in drawn)
        for record in ordered
        if record.id in listed
    )
    colours = mixer_colours(sorted({row.mixer for row in rows}))
    return Page(
        title=f"recollect: {study or contents.path.name}",
        select=select,
        limits=_limits(len(records)),
        statuses=_statuses(records),
        outcomes=_outcomes(records),
        studies=tuple(_card(name, scale, contents.labelled(name, scale), select) for name, scale in wanted),
        claims=tuple(claims),
        cells=tuple(cell_of(row, words) for row, words in zip(rows, commands, strict=True)),
        probes=probe_cards(contents, records),
        runs=runs,
        colours=colours,
        charts={
            "windows": windows_chart(colours),
            "outcomes": outcomes_chart(),
            "cells": cells_chart(),
            "curves": curve_charts(),
            "compare": compare_charts(),
            "grid": list(ZOOLOGY.lrs),
        },
    )


def _place(pair: tuple[str, str]) -> tuple[int, str, str]:
    """The paper's order, then sweeps by name."""
    name, scale = pair
    return (list(STUDIES).index(name) if name in STUDIES else len(STUDIES)), name, scale


def _order(row: CellRow) -> tuple[str, str, int, int, str]:
    spec = row.spec
    return row.mixer, row.label, spec.task.length, spec.model.d_model, f"{spec.model.n_layers:03} {row.cell}"


def _first(records: Sequence[Record], rows: Sequence[CellRow], limit: int) -> set[str]:
    """The runs that find room: those at the best learning rate of their cell before all others."""
    best = {row.cell: row.choice.lr for row in rows if row.choice is not None}
    ranked = sorted(records, key=lambda record: record.spec.train.lr != best.get(record.cell))
    return {record.id for record in ranked[:limit]}


def _limits(total: int) -> str:
    """What a page of so many runs leaves out; empty where it has everything."""
    rows = f"{ROWS:,} of {total:,} runs are listed, all count in their cells; " if total > ROWS else ""
    curves = f"{CURVES:,} of {total:,} runs have their curves on this page, those at the best learning rates first"
    return f"{rows}{curves}; recollect show RUN has the others." if total > CURVES else ""


def _card(name: str, scale: str, labelled: Labelled, select: Select) -> StudyCard:
    records = [record for _, record in labelled]
    kind, known = FIGURES.find(figure_kind(name, records)), STUDIES.get(name)
    runs, left_out = kind.runs(labelled, plain(scale), select), known.note(scale) if known else ""
    return StudyCard(
        name=name,
        scale=scale,
        title=known.title if known else _sweep_title(records),
        question=known.question.strip() if known else _sweep_question(name, records),
        note=runs.note + (f". Scaled: {left_out}" if left_out else ""),
        statuses=_statuses(records),
        outcomes=_outcomes(records),
        kind=kind.name,
        charts=_charts(kind, labelled),
        labels=runs.labels,
        runs=runs,
    )


def _charts(kind: FigureKind[Any], labelled: Labelled) -> tuple[Chart, ...]:
    """Those of a kind; where there is one learning rate only, none over learning rates, if others are left."""
    found = kind.charts(Charts.of([(label, record.spec.model.mixer_name) for label, record in labelled]))
    others = [chart for chart in found if "learning rate" not in chart["about"]]
    is_swept = len({record.spec.train.lr for _, record in labelled}) > 1
    return tuple(found if is_swept else others or found)


def _sweep_title(records: Sequence[Record]) -> str:
    """What a sweep trains: `attention, mamba on MQAR V=64 L=32 K=4, d=64, 2 layers`."""
    specs = [record.spec for record in records]
    if not specs:
        return "runs that cannot be read"
    models = dict.fromkeys(spec.model.mixer_name for spec in specs)
    tasks = list(dict.fromkeys(spec.task.short() for spec in specs))
    task = tasks[0] if len(tasks) == 1 else f"{len(tasks)} tasks"
    depths = span(spec.model.n_layers for spec in specs)
    sizes = f"d={span(spec.model.d_model for spec in specs)}, {depths} layer{'s' * (depths != '1')}"
    return plain(f"{', '.join(models)} on {task}, {sizes}")


def _sweep_question(name: str, records: Sequence[Record]) -> str:
    """How many runs a sweep has, and over what."""
    rates, found = len({record.spec.train.lr for record in records}), len({record.spec.seed for record in records})
    what = "The search of `recollect window`" if name == "window" else f"The sweep {plain(name)}"
    count = f"{len(records)} run{'s' * (len(records) != 1)}"
    return f"{what}: {count}, {rates} learning rate{'s' * (rates != 1)}, {found} seed{'s' * (found != 1)}."


def figure_kind(study: str, records: Sequence[Record]) -> str:
    """The kind of figure that a study asks for; for a sweep file, lr where it varies, else dynamics."""
    if study in STUDIES:
        return STUDIES[study].figure
    return "lr" if len({record.spec.train.lr for record in records}) > 1 else "dynamics"


def _statuses(records: Sequence[Record]) -> dict[str, int]:
    found = Counter(record.status for record in records)
    return {status: found[status] for status in STATUSES if found[status]}


def _outcomes(records: Sequence[Record]) -> dict[str, int]:
    return dict(Counter(record.outcome for record in records if record.outcome).most_common())
