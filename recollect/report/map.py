"""The width of windows over models and tasks, with its interval. First the value, then its drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from recollect.report.axes import empty
from recollect.report.cells import CellRow, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.window.select import Labelled


@dataclass(frozen=True)
class Square:
    """The window of one cell in decades, with its 90 % interval; 0 where there is none, endless where it is open."""

    decades: float
    low: float
    high: float
    n_runs: int

    def words(self) -> str:
        """What stands in the square."""
        if not self.decades:
            return f"none\n{self.n_runs} runs"
        if math.isinf(self.high):
            return f"≥ {self.decades:.2f}\n{self.low:.2f} or more\n{self.n_runs} runs"
        return f"{self.decades:.2f}\n{self.low:.2f} to {self.high:.2f}\n{self.n_runs} runs"


@dataclass(frozen=True)
class WindowMap:
    """What the figure shows: a square per (model, task); None where too few learning rates are finished."""

    title: str
    note: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    squares: tuple[tuple[Square | None, ...], ...]


def window_map(labelled: Labelled, title: str, scale: str) -> WindowMap:
    """The windows of labelled cells: a row a label, a column a task (and size, where those differ)."""
    return _value(Runs.of(labelled, scale), title)


def _value(runs: Runs, title: str) -> WindowMap:
    found = cell_rows(runs.records, runs.labels)
    cells = {(row.label, _place(row)): row for row in found if row.done}
    places = sorted({place for _, place in cells})
    labels = tuple(dict.fromkeys(label for label, _ in cells))
    squares = tuple(tuple(_square(cells.get((label, place))) for place in places) for label in labels)
    return WindowMap(title, runs.note, labels, tuple(_names(places)), squares)


Place = tuple[int, int, int, str]
"""Length, width and depth, in whose order columns stand, and the task in words."""


def _place(row: CellRow) -> Place:
    model = row.spec.model
    return row.spec.task.length, model.d_model, model.n_layers, row.spec.task.short()


def _names(places: Sequence[Place]) -> list[str]:
    """Of every place the words in which it differs from others; the note says the rest."""
    told = [f"{task} d={width} layers={layers}".split() for _, width, layers, task in places]
    shared = set(told[0]).intersection(*told[1:]) if len(told) > 1 else set()
    return [" ".join(word for word in words if word not in shared) for words in told]


def _square(row: CellRow | None) -> Square | None:
    if row is None or row.window is None:
        return None
    width = row.window.width
    return Square(*((0.0,) * 3 if width is None else (width.value, width.low, width.high)), row.window.n_runs)


def draw_map(value: WindowMap, axes: Axes) -> None:
    """A square a cell, dark where the window is narrow, with its interval in it."""
    axes.set_title(value.title)
    shown = np.array([[np.nan if one is None else one.decades for one in row] for row in value.squares], dtype=float)
    if not shown.size or np.isnan(shown).all():
        empty(axes)
        return
    top = max(1.0, float(np.nanmax(shown)))
    axes.imshow(shown, cmap="cividis", vmin=0, vmax=top, aspect="auto")
    axes.set_xticks(range(len(value.columns)), value.columns)
    axes.set_yticks(range(len(value.rows)), value.rows)
    axes.set_xlabel("window in decades, with its 90 % interval")
    axes.tick_params(length=0)
    for (row, column), decades in np.ndenumerate(shown):
        one = value.squares[row][column]
        text, colour = ("-", "black") if one is None else (one.words(), "white" if decades < top / 2 else "black")
        axes.text(column, row, text, ha="center", va="center", fontsize="small", color=colour)


def _panels(value: WindowMap) -> list[Panel]:
    return [Panel(partial(draw_map, value), inches=0.7 + 0.42 * max(1, len(value.rows)))]


MAP = FigureKind(
    "map",
    value=_value,
    panels=_panels,
    charts=lambda page: [page.heatmap("decades", "window, decades", ".2f"), page.lr()],
    crosses=True,
)
