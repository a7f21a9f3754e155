"""Accuracy against parameters, and against the size of the state. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import log10
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from recollect.report.axes import draw_floors, empty
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, LINES, mixer_colour
from recollect.store import Record
from recollect.window.select import Choice, Labelled, Select, by_cell, choose, finished

Against = Literal["parameters", "state"]
NAMES: dict[Against, str] = {"parameters": "parameters", "state": "numbers in the state"}
DEPTHS = "osD^vPX*"
"""Markers, by the place of a depth among the figure's depths."""


@dataclass(frozen=True)
class ModelPoint:
    """A cell at its best learning rate, beside its sizes."""

    label: str
    mixer: str
    depth: int
    width: int
    n_params: int
    state_size: int
    choice: Choice


@dataclass(frozen=True)
class ParamsFigure:
    """What the figure shows."""

    title: str
    note: str
    points: tuple[ModelPoint, ...]
    floors: dict[str, float]


def params_figure(labelled: Labelled, title: str, scale: str, select: Select = "validation") -> ParamsFigure:
    """Test accuracy of every cell at its best learning rate, with its number of parameters and state size."""
    return _value(Runs.of(labelled, scale, select), title)


def _value(runs: Runs, title: str) -> ParamsFigure:
    names, cells = runs.labels, by_cell(finished(runs.records))
    points = tuple(_point(names[found[0].id], found, runs.select) for found in cells.values())
    return ParamsFigure(title, runs.note, points, floors(runs.records))


def _point(label: str, records: Sequence[Record], select: Select) -> ModelPoint:
    spec, result, choice = records[0].spec, records[0].result, choose(records, select)
    assert result is not None
    assert choice is not None
    return ModelPoint(
        label=label,
        mixer=spec.model.mixer_name,
        depth=spec.model.n_layers,
        width=spec.model.d_model,
        n_params=result["n_params"],
        state_size=result["state_size"],
        choice=choice,
    )


def draw_params(value: ParamsFigure, axes: Axes, against: Against = "parameters") -> None:
    """Colour = mixer, marker = depth; cells of one label and depth are joined, min to max is a bar."""
    axes.set_xscale("log")
    depths = sorted({point.depth for point in value.points})
    labels = list(dict.fromkeys((point.mixer, point.label) for point in value.points))
    for mixer, label in labels:
        variants = [name for kind, name in labels if kind == mixer]
        line = LINES[variants.index(label) % len(LINES)]
        for depth in depths:
            same = [one for one in value.points if (one.mixer, one.label, one.depth) == (mixer, label, depth)]
            _draw_line(same, DEPTHS[depths.index(depth) % len(DEPTHS)], line, against, axes)
        axes.plot([], [], color=mixer_colour(mixer), linestyle=line, linewidth=1.4, label=label)
    for place, depth in enumerate(depths):
        name = f"{depth} layer{'s' * (depth != 1)}"
        axes.plot([], [], color=INK, marker=DEPTHS[place % len(DEPTHS)], linestyle="", markersize=4, label=name)
    draw_floors(value.floors, axes)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if value.points and _decades(value, against) < 2 else (1,)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel=NAMES[against], ylabel="test accuracy", ylim=(-0.02, 1.04), title=value.title)
    if value.points:
        axes.legend(loc="best", ncols=1 + (len(labels) + len(depths) > 6))
    else:
        empty(axes)


def _draw_line(points: Sequence[ModelPoint], marker: str, line: Any, against: Against, axes: Axes) -> None:
    if not points:
        return
    found = sorted(points, key=lambda point: _size(point, against))
    x, y = [_size(point, against) for point in found], [point.choice.mean for point in found]
    below = [point.choice.mean - min(point.choice.accuracies) for point in found]
    above = [max(point.choice.accuracies) - point.choice.mean for point in found]
    hue = mixer_colour(found[0].mixer)
    bars = axes.errorbar(x, y, (below, above), color=hue, marker=marker, markersize=4, linewidth=1, elinewidth=0.7)
    bars.lines[0].set_linestyle(line)


def _decades(value: ParamsFigure, against: Against) -> float:
    sizes = [max(1, _size(point, against)) for point in value.points]
    return log10(max(sizes) / min(sizes))


def _size(point: ModelPoint, against: Against) -> int:
    return point.n_params if against == "parameters" else point.state_size


PARAMS = FigureKind(
    "params",
    value=_value,
    panels=lambda value: [Panel(partial(draw_params, value, against=against)) for against in NAMES],
    charts=lambda page: [page.models("params:Q", NAMES["parameters"]), page.models("state:Q", NAMES["state"])],
    chooses=True,
    crosses=True,
)
