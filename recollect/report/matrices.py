"""Pictures of what positions read in one row: matrices with its keys, values and queries as ticks."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from recollect.report.mixing import draw_mixing, mixing_figure
from recollect.report.note import titled
from recollect.report.style import COLUMN, PAGE, styled
from recollect.store import Record

Places = Mapping[str, Sequence[int]]
"""keys, values and queries -> their positions in the row."""
ACROSS = 4
PANEL = 1.5 * PAGE / ACROSS
"""Inches that a matrix takes in its row."""


def draw_matrices(
    matrices: Mapping[str, NDArray[np.floating]],
    places: Places,
    title: str,
    first: Sequence[Callable[[Axes], None]] = (),
) -> Figure:
    """Named matrices, up to four in a row, after what else is to be drawn."""
    value = mixing_figure(matrices, title)
    total = len(value.panels) + len(first)
    across = min(ACROSS, total)
    down, width = -(-total // across), max(COLUMN, PANEL * across)
    above = titled(value.title, width)
    with styled():
        figure = Figure(figsize=(width, 1.27 * PANEL * down + 0.2 * above.count("\n") + 0.3), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, draw in zip(grid, first, strict=False):
            draw(axes)
        for place, panel in enumerate(value.panels, len(first)):
            draw_mixing(panel, grid[place])
            put_ticks(grid[place], places)
            if place % across and place > len(first):
                grid[place].set_ylabel("")
        for axes in grid[total:]:
            axes.set_visible(False)
        figure.suptitle(above)
    return figure


def put_ticks(axes: Axes, places: Places) -> None:
    """k, v and q at the positions of keys, values and queries."""
    marks = sorted((place, name[0]) for name, columns in places.items() for place in columns)
    at, letters = [place for place, _ in marks], [letter for _, letter in marks]
    axes.set_xticks(at, letters, fontsize=5)
    axes.set_yticks(at, letters, fontsize=5)


def stored_matrices(record: Record) -> tuple[dict[str, NDArray[np.float64]], Places]:
    """What was kept of a run at its last look: matrices by name, and where keys, values and queries stand.

    Of a run that diverged there are none.
    """
    last = {name: [*steps.values()][-1] for name, steps in record.looks.items()}
    matrices = {f"layer {name}": array for name, array in last.items() if array.ndim == 2 and np.isfinite(array).all()}
    return matrices, {name: last[name].astype(int).tolist() for name in ("keys", "values", "queries") if name in last}
