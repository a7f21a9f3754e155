"""Accuracy against width, a column per task size. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, empty
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, looks
from recollect.spec.protocols import ZOOLOGY
from recollect.store import Record
from recollect.window.select import Choice, Labelled, Select, by_cell, by_label, choose


@dataclass(frozen=True)
class WidthPoint:
    """A cell at its best learning rate."""

    width: int
    choice: Choice


@dataclass(frozen=True)
class WidthSeries:
    """One label over widths; where there are runs at Zoology's four rates and at others, also what the four find."""

    label: str
    mixer: str
    points: tuple[WidthPoint, ...]
    coarse: tuple[WidthPoint, ...]


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
    tasks = sorted({(record.spec.task.length, record.spec.task.short()) for record in runs.records})
    parts = [(task, [pair for pair in runs.labelled if pair[1].spec.task.short() == task]) for _, task in tasks]
    columns = [_column(task, labelled, runs.select) for task, labelled in parts]
    return WidthFigure(title, runs.note, tuple(column for column in columns if column.series))


def _column(task: str, labelled: Labelled, select: Select) -> WidthColumn:
    series = [_series(label, records, select) for label, records in by_label(labelled).items()]
    shown = tuple(found for found in series if found.points)
    return WidthColumn(task, shown, floors([record for _, record in labelled]))


def _series(label: str, records: Sequence[Record], select: Select) -> WidthSeries:
    zoologys = [record for record in records if record.spec.train.lr in ZOOLOGY.lrs]
    whole = {record.spec.train.lr for record in zoologys} == set(ZOOLOGY.lrs)
    coarse = _points(zoologys, select) if whole and len(zoologys) < len(records) else ()
    return WidthSeries(label, records[0].spec.model.mixer_name, _points(records, select), coarse)


def _points(records: Sequence[Record], select: Select) -> tuple[WidthPoint, ...]:
    """The best cell of every width; a label usually has one."""
    best: dict[int, Choice] = {}
    for found in by_cell(records).values():
        choice, width = choose(found, select), found[0].spec.model.d_model
        if choice is not None and (width not in best or choice.mean > best[width].mean):
            best[width] = choice
    return tuple(WidthPoint(width, best[width]) for width in sorted(best))


def draw_width(column: WidthColumn, axes: Axes) -> None:
    """Mean line, min-max band, a dot a seed; widths on a log-2 axis."""
    styles = looks([(series.label, series.mixer) for series in column.series])
    axes.set_xscale("log", base=2)
    for series in column.series:
        look, widths = styles[series.label], [point.width for point in series.points]
        choices = [point.choice for point in series.points]
        low, high = [min(found.accuracies) for found in choices], [max(found.accuracies) for found in choices]
        means = [found.mean for found in choices]
        axes.fill_between(widths, low, high, color=look.colour, alpha=0.16, linewidth=0)
        axes.plot(widths, means, color=look.colour, linestyle=look.line, linewidth=1.4, label=series.label)
        coarse = [point.choice.mean for point in series.coarse]
        axes.plot([point.width for point in series.coarse], coarse, color=look.colour, linestyle=":", linewidth=1)
        x = [point.width for point in series.points for _ in point.choice.accuracies]
        y = [one for found in choices for one in found.accuracies]
        axes.scatter(x, y, s=8, color=look.colour, marker=look.marker, linewidth=0, zorder=3)
    draw_floors(column.floors, axes)
    axes.set(xlabel="width d", ylabel="test accuracy", ylim=(-0.02, 1.04), title=column.task)
    ticks = sorted({point.width for series in column.series for point in series.points})
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    if any(series.coarse for series in column.series):
        axes.plot([], [], color=INK, linestyle=":", linewidth=1, label="Zoology's grid")
    if column.series:
        axes.legend(loc="best")
    else:
        empty(axes)


WIDTH = FigureKind(
    "width",
    value=_value,
    panels=lambda value: [Panel(partial(draw_width, column)) for column in value.columns],
    charts=lambda page: [page.models("d:O", "width d")],
    chooses=True,
    crosses=True,
)
