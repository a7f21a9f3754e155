"""A user's models beside others: windows with a table, accuracy over learning rates, accuracy over widths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import pandas as pd

from recollect.report.bars import bounds_of
from recollect.report.cells import CellRow, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.lr import LR
from recollect.report.strip import STRIP, Strip
from recollect.report.tables import escaped, pasted
from recollect.report.width import WIDTH, WidthFigure
from recollect.window.reading import grouped
from recollect.window.select import Choice, Labelled, by_cell, is_searched


@dataclass(frozen=True)
class Compared:
    """The figures of which it consists; the first two are of the cells that were searched."""

    strip: Strip
    lr: Any
    width: WidthFigure


def _value(runs: Runs, title: str, costs: Mapping[str, "Cost"] | None = None) -> Compared:
    searched = {cell for cell, found in by_cell(runs.records).items() if is_searched(found)}
    wide = runs.some([(label, record) for label, record in runs.labelled if record.cell in searched])
    wide = replace(wide, all=wide.labelled)
    strip = STRIP.value(wide, title)
    if costs is not None:
        strip = replace(
            strip, rows=tuple(replace(r, words={**r.words, **_cost_words(costs[r.label])}) for r in strip.rows)
        )
    return Compared(strip, LR.value(wide, ""), WIDTH.value(runs, ""))


def _panels(value: Compared) -> list[Panel]:
    """The strip that stands above the learning rates elsewhere is a panel here."""
    rates = [replace(panel, above=None) for panel in LR.panels(value.lr) if not panel.is_extra]
    return [*STRIP.panels(value.strip), *(rates if value.strip.rows else []), *WIDTH.panels(value.width)]


COMPARE = FigureKind(
    "compare",
    value=_value,
    panels=_panels,
    charts=lambda page: [page.lr(), page.models("d:O", "width d")],
    chooses=True,
    crosses=True,
    across=2,
)


def measured(costs: Mapping[str, "Cost"]) -> FigureKind[Compared]:
    """The same figure with what a step of each model takes here, by label, for runs may come from other machines."""
    return replace(COMPARE, value=partial(_value, costs=costs))


class Cost(Protocol):
    """What a training step takes: milliseconds, and the bytes that its backward pass needs."""

    @property
    def milliseconds(self) -> float: ...

    @property
    def kept(self) -> int: ...


@dataclass(frozen=True)
class Line:
    """A model in the table: the cell that was searched, width -> accuracies at the best rate, what a step costs."""

    label: str
    searched: CellRow
    choices: Mapping[int, Choice]
    cost: Cost


def lines(labelled: Labelled, costs: Mapping[str, Cost]) -> list[Line]:
    """A line per model with a finished search; `costs` by label."""
    labels = {record.id: label for label, record in labelled}
    found = []
    for label, rows in grouped((row.label, row) for row in cell_rows([run for _, run in labelled], labels)).items():
        ordered = sorted(rows, key=lambda row: row.spec.model.d_model)
        choices = {row.spec.model.d_model: row.choice for row in ordered if row.choice is not None}
        searched = [row for row in rows if is_searched(row.done)]
        found += [Line(label, row, choices, costs[label]) for row in searched[:1]]
    return found


def table(found: Sequence[Line]) -> pd.DataFrame:
    """Numbers, a row per model."""
    rows = []
    for line in found:
        bounds = bounds_of(line.searched.window)
        low, high = (None, None) if bounds is None else (10**edge.value for edge in bounds)
        width = line.searched.window.width if line.searched.window is not None else None
        wide = (None, None, None) if width is None else (width.value, width.low, width.high)
        rows.append(
            {
                "model": line.label,
                **dict(zip(("window_low", "window_high"), (low, high), strict=True)),
                **dict(zip(("decades", "decades_low", "decades_high"), wide, strict=True)),
                "best_lr": line.searched.choice.lr if line.searched.choice is not None else None,
                **{f"accuracy_{width}": choice.mean for width, choice in line.choices.items()},
                "steps": line.searched.steps,
                "ms": round(line.cost.milliseconds, 3),
                "kept_mb": round(line.cost.kept / 1e6, 3),
                "state": line.searched.state_size,
                "params": line.searched.n_params,
            }
        )
    return pd.DataFrame(rows)


def in_words(found: Sequence[Line]) -> pd.DataFrame:
    """The same as readers see it, every cell a text."""
    widths = sorted({width for line in found for width in line.choices})
    return pd.DataFrame([_words(line, widths) for line in found])


def latex(found: Sequence[Line]) -> str:
    """The same for a paper: mean ± sd over seeds, percent in the head."""
    shown = escaped(in_words(found))
    for d in sorted({width for line in found for width in line.choices}):
        shown[f"d={d}"] = [_spread(line.choices.get(d)) for line in found]
    told = "% \\usepackage{booktabs}; d=...: accuracy in %, mean $\\pm$ sd over seeds; ms, MB: of a training step\n"
    return told + pasted(shown)


def _spread(choice: Choice | None) -> str:
    if choice is None:
        return "--"
    return f"${100 * choice.mean:.1f}" + ("" if choice.sd is None else rf" \pm {100 * choice.sd:.1f}") + "$"


def _words(line: Line, widths: Sequence[int]) -> dict[str, str]:
    row, bounds = line.searched, bounds_of(line.searched.window)
    return {
        "model": line.label,
        "window": "-" if bounds is None else " to ".join(f"{10**edge.value:.2g}" for edge in bounds),
        "decades (90 %)": "-" if row.window is None else "none" if bounds is None else str(row.window.width),
        **{f"d={d}": f"{line.choices[d].mean:.1%}" if d in line.choices else "-" for d in widths},
        "steps": "-" if line.searched.steps is None else f"{line.searched.steps:,.0f}",
        **_cost_words(line.cost),
        "state": "unknown" if row.state_size is None else f"{row.state_size:,}",
        "params": "" if row.n_params is None else f"{row.n_params / 1000:.0f}k",
    }


def _cost_words(cost: Cost) -> dict[str, str]:
    return {"ms": f"{cost.milliseconds:.1f}", "MB": f"{cost.kept / 1e6:.1f}"}
