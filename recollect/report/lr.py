"""Accuracy against learning rate: the window, its edges, every seed. First the value, then its drawing."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, legend
from recollect.report.bands import BANDS, Bands, edges
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, Look, looks
from recollect.spec.protocols import ZOOLOGY
from recollect.store import ACCURACY, Record
from recollect.window import THRESHOLD, Window
from recollect.window.select import Choice, accuracy, by_cell, by_label, by_lr, choose, finished, for_window, window_of

Style = dict[str, Any]
RAIL, GAP = 1.045, 0.04
"""Where the first window's bar lies, above an accuracy of 1, and how far apart two are."""


@dataclass(frozen=True)
class LRSeries:
    """The runs under one label: mean and min-max over seeds at every learning rate, and the window of its cell.

    By search every learning rate has a run or two, and `best` are the seeds that were added at the best one.
    """

    label: str
    mixer: str
    lrs: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    dots: tuple[Record, ...]  # the runs, lowest learning rate first
    window: Window | None  # None where the label has several cells, or no finished run
    best: Choice | None = None


@dataclass(frozen=True)
class LRFigure:
    """What the figure shows."""

    title: str
    note: str
    series: tuple[LRSeries, ...]
    floors: dict[str, float]
    grid: tuple[float, ...]


def lr_figure(
    cells: Sequence[tuple[str, Sequence[Record]]], title: str, scale: str, threshold: float = THRESHOLD
) -> LRFigure:
    """Test accuracy over the learning rates of labelled cells, beside the grid that Zoology searched."""
    labelled = [(label, record) for label, records in cells for record in records]
    return lr_panel(Runs.of(labelled, scale), title, threshold)


def lr_panel(runs: Runs, title: str, threshold: float = THRESHOLD) -> LRFigure:
    """The same as a panel of a figure, under its note."""
    done = {label: finished(records) for label, records in by_label(runs.labelled).items()}
    series = tuple(_series(label, records, threshold) for label, records in done.items() if records)
    return LRFigure(title, runs.note, series, floors(runs.records), ZOOLOGY.lrs)


def _series(label: str, records: Sequence[Record], threshold: float) -> LRSeries:
    rates, added = by_lr(for_window(records)), [record for record in records if record.tells == ACCURACY]
    scores = [[accuracy(run) for run in found] for found in rates.values()]
    return LRSeries(
        label=label,
        mixer=records[0].spec.model.mixer_name,
        lrs=tuple(rates),
        mean=tuple(map(statistics.fmean, scores)),
        low=tuple(map(min, scores)),
        high=tuple(map(max, scores)),
        dots=tuple(run for found in rates.values() for run in found),
        window=window_of(records, threshold) if len(by_cell(records)) == 1 else None,
        best=choose(added),
    )


def draw_lr(value: LRFigure, axes: Axes, *, beside: bool = False) -> None:
    """Mean line, min-max band, a dot a seed; windows shaded, with a bar above that shows the doubt of their edges.

    `beside` puts the names to the right of the panel, where there is room for them.
    """
    tested = [lr for series in value.series for lr in series.lrs] or list(value.grid)
    axes.set_xscale("log")
    axes.set_xlim(*outermost(tested))
    styles = looks([(series.label, series.mixer) for series in value.series])
    for lr in value.grid:
        axes.axvline(lr, color=INK, linewidth=0.6, linestyle=(0, (2, 3)), alpha=0.6, zorder=0)
    for place, series in enumerate(value.series):
        look = styles[series.label]
        axes.fill_between(series.lrs, series.low, series.high, color=look.colour, alpha=0.16, linewidth=0)
        axes.plot(series.lrs, series.mean, color=look.colour, linestyle=look.line, linewidth=1.4, label=series.label)
        x, y = [run.spec.train.lr for run in series.dots], [accuracy(run) for run in series.dots]
        axes.scatter(x, y, s=7, color=look.colour, marker=look.marker, alpha=0.75, linewidth=0, clip_on=False, zorder=3)
        _draw_best(series, look, axes)
        _draw_window(series, look, RAIL + GAP * place, axes)
    draw_floors(value.floors, axes, beside=beside)
    added = "; diamonds: all seeds at the best" if any(series.best for series in value.series) else ""
    axes.set(xlabel=f"learning rate (dashed: Zoology's grid{added})", ylabel="test accuracy", title=value.title)
    axes.set_ylim(-0.02, RAIL + GAP * max(1, len(value.series)))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    legend(value.series, axes, beside=beside)


def outermost(tested: Sequence[float]) -> tuple[float, float]:
    """Where the axis of learning rates begins and ends: as far out as the bars of outcomes, or a little more."""
    first, *_, last = edges(sorted(set(tested)))
    return min(first, min(tested) / 1.25), max(last, max(tested) * 1.25)


def _draw_best(series: LRSeries, look: Look, axes: Axes) -> None:
    """The seeds at the best rate of a search: mean and min to max, beside the line of its single runs."""
    if series.best is not None:
        seen, mean = series.best.accuracies, series.best.mean
        ends = [[mean - min(seen)], [max(seen) - mean]]
        style: Style = {
            "color": look.colour,
            "marker": "D",
            "markersize": 4.5,
            "markeredgecolor": "white",
            "capsize": 2.5,
        }
        axes.errorbar([series.best.lr], [mean], ends, linewidth=1, zorder=4, clip_on=False, **style)


def _draw_window(series: LRSeries, look: Look, height: float, axes: Axes) -> None:
    if series.window is None or series.window.lower is None or series.window.upper is None:
        return
    lower, upper = series.window.lower, series.window.upper
    axes.axvspan(10**lower.value, 10**upper.value, color=look.colour, alpha=0.07, linewidth=0, zorder=0)
    axes.plot([10**lower.value, 10**upper.value], [height] * 2, color=look.colour, linewidth=2.6, solid_capstyle="butt")
    first, last = math.log10(series.lrs[0]) - 0.08, math.log10(series.lrs[-1]) + 0.08
    for edge in (lower, upper):
        ends = [10 ** max(edge.low, first), 10 ** min(edge.high, last)]  # cut where the runs do not bound it
        axes.plot(ends, [height] * 2, color=look.colour, linewidth=0.9, marker="|", markersize=4)


def _values(runs: Runs, title: str) -> tuple[LRFigure, list[Bands]]:
    """Under a panel that is alone, and so has no title, how the runs of each label end."""
    return lr_panel(runs, title), [] if title else BANDS.value(runs, title)


def _panels(value: tuple[LRFigure, list[Bands]]) -> list[Panel]:
    accuracy, ends = value
    return [Panel(partial(draw_lr, accuracy, beside=not accuracy.title)), *BANDS.panels(ends)]


LR = FigureKind("lr", value=_values, panels=_panels, charts=lambda page: [page.lr(), page.bands()])
