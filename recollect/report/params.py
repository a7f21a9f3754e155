"""Accuracy against parameters, and against the size of the state. First the value, then its drawing."""

from collections.abc import Sequence
from functools import partial
from math import inf, log10
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from recollect.report.axes import draw_floors, legend, near
from recollect.report.cells import CellRow, CellsFigure, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.layout import NARROWEST
from recollect.report.note import floors, wrapped
from recollect.report.style import INK, LINES, mixer_colour
from recollect.window.reading import grouped
from recollect.window.select import Labelled, Select, finished

Against = Literal["parameters", "state"]
NAMES: dict[Against, str] = {"parameters": "parameters", "state": "numbers in the state"}
FAR = 8.5
"""The ratio of two sizes across which no line is drawn: twice the width has up to four times the parameters."""

DEPTHS = "osD^vPX*"
"""Markers, by the place of a depth among the figure's depths."""


def params_figure(labelled: Labelled, title: str, scale: str, select: Select = "validation") -> CellsFigure:
    """Test accuracy of every cell at its best learning rate, with its number of parameters and state size."""
    return _value(Runs.of(labelled, scale, select), title)


def _value(runs: Runs, title: str) -> CellsFigure:
    rows = cell_rows(finished(runs.records), runs.labels, runs.select)
    return CellsFigure(title, runs.note, tuple(rows), floors(runs.records))


def draw_params(value: CellsFigure, axes: Axes, against: Against = "parameters") -> None:
    """Colour = mixer, marker = depth; neighbours of one label and depth are joined, min to max is a bar."""
    axes.set_xscale("log")
    cells = grouped(((row.mixer, row.label, row.spec.model.n_layers), row) for row in value.rows)
    labels = list(dict.fromkeys((mixer, label) for mixer, label, _ in cells))
    depths = sorted({depth for *_, depth in cells})
    for mixer, label in labels:
        variants = [name for kind, name in labels if kind == mixer]
        line = LINES[variants.index(label) % len(LINES)]
        for place, depth in enumerate(depths):
            if same := _sized(cells.get((mixer, label, depth), ()), against):
                _draw_line(same, DEPTHS[place % len(DEPTHS)], line, axes)
        axes.plot([], [], color=mixer_colour(mixer), linestyle=line, label=label)
    for place, depth in enumerate(depths):
        name = f"{depth} layer{'s' * (depth != 1)}"
        axes.plot([], [], color=INK, marker=DEPTHS[place % len(DEPTHS)], linestyle="", markersize=4, label=name)
    draw_floors(value.floors, axes)
    sizes = [size for size, _ in _sized(value.rows, against)]
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if _decades(sizes) < 2 else (1,)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel=_axis(value, against), ylabel="test accuracy", ylim=(-0.02, 1.04), title=value.title)
    legend(sizes, axes)


def _draw_line(found: Sequence[tuple[int, CellRow]], marker: str, line: Any, axes: Axes) -> None:
    choices = [row.choice for _, row in found if row.choice is not None]
    x, y = [size for size, _ in found], [choice.mean for choice in choices]
    below = [choice.mean - min(choice.accuracies) for choice in choices]
    above = [max(choice.accuracies) - choice.mean for choice in choices]
    hue = mixer_colour(found[0][1].mixer)
    axes.errorbar(x, y, (below, above), color=hue, marker=marker, markersize=4, linestyle="", elinewidth=0.7)
    for part in near(x, FAR):
        axes.plot(x[part], y[part], color=hue, linestyle=line, linewidth=1)


def _decades(sizes: Sequence[int]) -> float:
    """How far the sizes span; a wide axis where there are none."""
    return log10(max(1, *sizes) / max(1, min(sizes))) if sizes else inf


def _sized(rows: Sequence[CellRow], against: Against) -> list[tuple[int, CellRow]]:
    """The rows whose size is known, with it, from the smallest on."""
    found = [(size, row) for row in rows if (size := _size(row, against)) is not None]
    return sorted(found, key=lambda pair: pair[0])


def _size(row: CellRow, against: Against) -> int | None:
    """None where nobody says: a user's mixer need not tell what it remembers."""
    return row.n_params if against == "parameters" else row.state_size


def _axis(value: CellsFigure, against: Against) -> str:
    """The name of the sizes, and whose are not known and hence not drawn."""
    missing = dict.fromkeys(row.label for row in value.rows if _size(row, against) is None)
    return wrapped(NAMES[against] + (f" (unknown: {', '.join(missing)})" if missing else ""), NARROWEST)


PARAMS = FigureKind(
    "params",
    value=_value,
    panels=lambda value: [Panel(partial(draw_params, value, against=against), against) for against in NAMES],
    charts=lambda page: [page.models("params:Q", NAMES["parameters"]), page.models("state:Q", NAMES["state"])],
    chooses=True,
    crosses=True,
    parts=tuple(NAMES),
)
