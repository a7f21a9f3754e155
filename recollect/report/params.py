"""Accuracy against parameters, and against the size of the state. First the value, then its drawing."""

from collections.abc import Sequence
from functools import partial
from math import log10
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from recollect.report.axes import draw_floors, legend, near
from recollect.report.cells import CellRow, CellsFigure, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
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
            if same := cells.get((mixer, label, depth)):
                _draw_line(same, DEPTHS[place % len(DEPTHS)], line, against, axes)
        axes.plot([], [], color=mixer_colour(mixer), linestyle=line, label=label)
    for place, depth in enumerate(depths):
        name = f"{depth} layer{'s' * (depth != 1)}"
        axes.plot([], [], color=INK, marker=DEPTHS[place % len(DEPTHS)], linestyle="", markersize=4, label=name)
    draw_floors(value.floors, axes)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if value.rows and _decades(value, against) < 2 else (1,)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel=NAMES[against], ylabel="test accuracy", ylim=(-0.02, 1.04), title=value.title)
    legend(value.rows, axes)


def _draw_line(rows: Sequence[CellRow], marker: str, line: Any, against: Against, axes: Axes) -> None:
    found = sorted(rows, key=lambda row: _size(row, against))
    choices = [row.choice for row in found if row.choice is not None]
    x, y = [_size(row, against) for row in found], [choice.mean for choice in choices]
    below = [choice.mean - min(choice.accuracies) for choice in choices]
    above = [max(choice.accuracies) - choice.mean for choice in choices]
    hue = mixer_colour(found[0].mixer)
    axes.errorbar(x, y, (below, above), color=hue, marker=marker, markersize=4, linestyle="", elinewidth=0.7)
    for part in near(x, FAR):
        axes.plot(x[part], y[part], color=hue, linestyle=line, linewidth=1)


def _decades(value: CellsFigure, against: Against) -> float:
    sizes = [max(1, _size(row, against)) for row in value.rows]
    return log10(max(sizes) / min(sizes))


def _size(row: CellRow, against: Against) -> int:
    size = row.n_params if against == "parameters" else row.state_size
    assert size is not None
    return size


PARAMS = FigureKind(
    "params",
    value=_value,
    panels=lambda value: [Panel(partial(draw_params, value, against=against), against) for against in NAMES],
    charts=lambda page: [page.models("params:Q", NAMES["parameters"]), page.models("state:Q", NAMES["state"])],
    chooses=True,
    crosses=True,
    parts=tuple(NAMES),
)
