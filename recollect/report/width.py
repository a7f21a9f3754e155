"""Accuracy against width, a column per task size. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, legend, near
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, Look
from recollect.store import Record
from recollect.window.reading import grouped
from recollect.window.select import Choice, Labelled, Select, by_cell, by_label, choose, zoologys

FAR = 2.9
"""The ratio of two widths across which no line is drawn."""


@dataclass(frozen=True)
class WidthSeries:
    """One label: width -> its best cell; where there are runs at Zoology's four rates and others, also by the four."""

    label: str
    look: Look
    points: dict[int, Choice]
    coarse: dict[int, Choice]


@dataclass(frozen=True)
class WidthColumn:
    """One task with its sizes."""

    task: str
    series: tuple[WidthSeries, ...]
    floors: dict[str, float]


@dataclass(frozen=True)
class WidthFigure:
    """What the figure shows."""

    title: str
    note: str
    columns: tuple[WidthColumn, ...]


def width_figure(labelled: Labelled, title: str, scale: str, select: Select = "validation") -> WidthFigure:
    """Test accuracy at each cell's best learning rate, over widths, for every task size; shortest rows first."""
    return _value(Runs.of(labelled, scale, select), title)


def _value(runs: Runs, title: str) -> WidthFigure:
    parts = grouped(((run.spec.task.length, run.spec.task.short()), (label, run)) for label, run in runs.labelled)
    columns = [
        _column(task if len(parts) > 1 else "", runs.some(parts[length, task])) for length, task in sorted(parts)
    ]
    return WidthFigure(title, runs.note, tuple(column for column in columns if column.series))


def _column(task: str, runs: Runs) -> WidthColumn:
    styles = runs.looks
    series = [_series(label, styles[label], found, runs.select) for label, found in by_label(runs.labelled).items()]
    shown = tuple(found for found in series if found.points)
    return WidthColumn(task, shown, floors(runs.records))


def _series(label: str, look: Look, records: Sequence[Record], select: Select) -> WidthSeries:
    theirs = zoologys(records)
    coarse = _points(theirs, select) if len(theirs) < len(records) else {}
    return WidthSeries(label, look, _points(records, select), coarse)


def _points(records: Sequence[Record], select: Select) -> dict[int, Choice]:
    """The best cell of every width, narrowest first; a label usually has one."""
    best: dict[int, Choice] = {}
    for found in by_cell(records).values():
        choice, width = choose(found, select), found[0].spec.model.d_model
        if choice is not None and (width not in best or choice.mean > best[width].mean):
            best[width] = choice
    return dict(sorted(best.items()))


def draw_width(column: WidthColumn, axes: Axes) -> None:
    """A line through the means, min to max upright, a dot a seed; widths on a log-2 axis."""
    axes.set_xscale("log", base=2)
    for series in column.series:
        look, widths, choices = series.look, list(series.points), list(series.points.values())
        low, high = [min(found.accuracies) for found in choices], [max(found.accuracies) for found in choices]
        means = [found.mean for found in choices]
        axes.vlines(widths, low, high, color=look.colour, linewidth=0.9, alpha=0.6)
        for part in near(widths, FAR):
            axes.plot(widths[part], means[part], color=look.colour, linestyle=look.line)
        axes.plot([], [], color=look.colour, linestyle=look.line, marker=look.marker, label=series.label)
        coarse = [found.mean for found in series.coarse.values()]
        axes.plot(list(series.coarse), coarse, color=look.colour, linestyle=":", linewidth=1)
        x = [width for width, found in series.points.items() for _ in found.accuracies]
        y = [one for found in choices for one in found.accuracies]
        axes.scatter(x, y, s=8, color=look.colour, marker=look.marker, linewidth=0, zorder=3)
    draw_floors(column.floors, axes)
    axes.set(xlabel="width d", ylabel="test accuracy", ylim=(-0.02, 1.04), title=column.task)
    ticks = sorted({width for series in column.series for width in series.points})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    if any(series.coarse for series in column.series):
        axes.plot([], [], color=INK, linestyle=":", linewidth=1, label="Zoology's grid")
    legend(column.series, axes)


WIDTH = FigureKind(
    "width",
    value=_value,
    panels=lambda value: [Panel(partial(draw_width, column)) for column in value.columns],
    charts=lambda page: [page.models("d:O", "width d")],
    chooses=True,
    crosses=True,
)
