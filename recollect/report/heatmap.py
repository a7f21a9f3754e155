"""Best accuracy, best learning rate or window width over a grid of models. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from recollect.report.axes import empty
from recollect.report.cells import CellRow, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import note
from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window.reading import grouped
from recollect.window.select import Select, by_label

Measure = Literal["accuracy", "lr", "window"]
Side = Literal["depth", "length"]
MEASURES: dict[Measure, tuple[str, str, str, str]] = {
    "accuracy": ("test accuracy at the best lr", "mean", "accuracy", ".1%"),
    "lr": ("best learning rate", "lr", "best lr", ".2g"),
    "window": ("window in decades", "decades", "window, decades", ".2f"),
}
"""Its name in print, its field and its name on the page, its format."""


@dataclass(frozen=True)
class Heatmap:
    """What the figure shows: a value per (row, width); None where there is no result, or no window to tell."""

    title: str
    note: str
    measure: Measure
    side: Side
    widths: tuple[int, ...]
    rows: tuple[int, ...]
    values: tuple[tuple[float | None, ...], ...]


def heatmap(
    records: Sequence[Record],
    title: str,
    scale: str,
    measure: Measure = "accuracy",
    side: Side = "depth",
    select: Select = "validation",
) -> Heatmap:
    """One measure over width and depth, or width and length; among cells of one square the most accurate is shown."""
    return _value(cell_rows(records, select=select), title, note(records, scale, select), measure, side)


def _value(found: Sequence[CellRow], title: str, small: str, measure: Measure, side: Side) -> Heatmap:
    squares = grouped((_square(row.spec, side), row) for row in found if row.choice is not None)
    rows, widths = (tuple(sorted({square[i] for square in squares})) for i in (0, 1))
    values = tuple(tuple(_number(squares.get((row, width), ()), measure) for width in widths) for row in rows)
    return Heatmap(title, small, measure, side, widths, rows, values)


def _values(runs: Runs, title: str) -> list[Heatmap]:
    """A row of all measures for each label; over lengths where those differ, else over depths."""
    side: Side = "length" if len({record.spec.task.length for record in runs.records}) > 1 else "depth"
    cells = {label: cell_rows(records, select=runs.select) for label, records in by_label(runs.labelled).items()}
    return [
        _value(found, f"{label}\n{name}", runs.note, measure, side)
        for label, found in cells.items()
        for measure, (name, *_) in MEASURES.items()
    ]


def _square(spec: RunSpec, side: Side) -> tuple[int, int]:
    return spec.model.n_layers if side == "depth" else spec.task.length, spec.model.d_model


def _number(cells: Sequence[CellRow], measure: Measure) -> float | None:
    best = max(cells, key=lambda cell: cell.choice.mean if cell.choice else 0.0, default=None)
    if best is None or best.choice is None:
        return None
    return {"accuracy": best.choice.mean, "lr": best.choice.lr, "window": best.decades}[measure]


def draw_heatmap(value: Heatmap, axes: Axes) -> None:
    """A square a cell with its number in it; dark is little."""
    axes.set(xlabel="width d", ylabel="layers" if value.side == "depth" else "length L", title=value.title)
    numbers = np.array([[np.nan if v is None else v for v in row] for row in value.values], dtype=float)
    if not numbers.size or np.isnan(numbers).all():
        empty(axes)
        return
    shown = np.log10(numbers) if value.measure == "lr" else numbers
    low, high = (0.0, 1.0) if value.measure == "accuracy" else (float(np.nanmin(shown)), float(np.nanmax(shown)))
    low = low if low < high else high - 1
    axes.imshow(shown, cmap="cividis", vmin=low, vmax=high, origin="lower", aspect="auto")
    axes.set_xticks(range(len(value.widths)), [str(width) for width in value.widths])
    axes.set_yticks(range(len(value.rows)), [str(row) for row in value.rows])
    for (row, column), number in np.ndenumerate(numbers):
        is_dark = shown[row, column] < (low + high) / 2
        text = "-" if np.isnan(number) else format(number, MEASURES[value.measure][-1])
        axes.text(column, row, text, ha="center", va="center", fontsize="small", color="white" if is_dark else "black")


HEATMAP = FigureKind(
    "heatmap",
    value=_values,
    panels=lambda values: [Panel(partial(draw_heatmap, value), value.measure) for value in values],
    charts=lambda page: [page.heatmap(*words) for _, *words in MEASURES.values()],
    chooses=True,
    crosses=True,
    across=3,
    parts=tuple(MEASURES),
)
