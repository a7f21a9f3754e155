"""Best accuracy, best learning rate or window width over a grid of models. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from recollect.report.axes import empty
from recollect.report.cells import CellRow, cell_rows
from recollect.report.note import note
from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window.select import Select

Measure = Literal["accuracy", "lr", "window"]
Side = Literal["depth", "length"]
NAMES = {"accuracy": "test accuracy at the best lr", "lr": "best learning rate", "window": "window in decades"}
Grid = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Heatmap:
    """What the figure shows: a value per (row, width); None where there is no result, or no window to tell."""

    title: str
    note: str
    measure: Measure
    side: Side
    widths: tuple[int, ...]
    rows: tuple[int, ...]
    values: Grid


def heatmap(
    records: Sequence[Record],
    title: str,
    scale: str,
    measure: Measure = "accuracy",
    side: Side = "depth",
    select: Select = "validation",
) -> Heatmap:
    """One measure over width and depth, or width and length; among cells of one square the most accurate is shown."""
    cells = [row for row in cell_rows(records, select=select) if row.choice is not None]
    widths = tuple(sorted({row.spec.model.d_model for row in cells}))
    rows = tuple(sorted({_side(row.spec, side) for row in cells}))
    values = tuple(tuple(_value(cells, side, row, width, measure) for width in widths) for row in rows)
    return Heatmap(title, note(records, scale, select), measure, side, widths, rows, values)


def _side(spec: RunSpec, side: Side) -> int:
    return spec.model.n_layers if side == "depth" else spec.task.length


def _value(cells: Sequence[CellRow], side: Side, row: int, width: int, measure: Measure) -> float | None:
    here = [cell for cell in cells if (_side(cell.spec, side), cell.spec.model.d_model) == (row, width)]
    best = max(here, key=lambda cell: cell.choice.mean if cell.choice else 0.0, default=None)
    if best is None or best.choice is None:
        return None
    if measure == "window":
        return _decades(best)
    return best.choice.mean if measure == "accuracy" else best.choice.lr


def _decades(cell: CellRow) -> float | None:
    if cell.window is None:
        return None
    return 0.0 if cell.window.width is None else cell.window.width.value


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
        text = "-" if np.isnan(number) else _text(float(number), value.measure)
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="white" if is_dark else "black")


def _text(number: float, measure: Measure) -> str:
    return {"accuracy": f"{number:.1%}", "lr": f"{number:.2g}", "window": f"{number:.2f}"}[measure]
