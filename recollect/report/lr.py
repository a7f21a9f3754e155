"""Accuracy against learning rate: the window, its edges, every seed. First the value, then its drawing."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes

from recollect.errors import BadInput
from recollect.report.axes import draw_floors, legend, near
from recollect.report.bands import bands, draw_bands, edges, ends
from recollect.report.bars import bounds_of, draw_bars, draw_words
from recollect.report.cells import FEWEST_RATES
from recollect.report.kind import ENDS, WINDOW, FigureKind, Panel, Runs, Strip
from recollect.report.note import floors
from recollect.report.style import INK, Look
from recollect.report.success import Success, draw_success, success
from recollect.spec.protocols import ZOOLOGY
from recollect.store import ACCURACY, Record
from recollect.window import THRESHOLD, Window
from recollect.window.select import Choice, accuracy, by_cell, by_label, by_lr, choose, finished, for_window, window_of

DODGE = 0.016
"""Decades by which the dots of two series stand aside, so that none hides the other."""


@dataclass(frozen=True)
class LRSeries:
    """The runs under one label: median and min-max over seeds at every learning rate, and the window of its cell.

    No line may join single runs: where most learning rates have one only, as a search leaves them, `success` is the
    curve fitted to them. `best` are the seeds that were added at the best rate of a search.
    """

    label: str
    look: Look
    lrs: tuple[float, ...]
    middle: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    counts: tuple[int, ...]
    dots: tuple[Record, ...]  # the runs, lowest learning rate first
    window: Window | None  # None where too few learning rates are finished
    success: Success | None = None
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
    """Test accuracy over the learning rates of labelled cells, beside the grid that Zoology searched.

    Runs of different tasks or models are not pooled: a label that names several cells is refused.
    """
    for label, records in cells:
        pooled = {record.cell: record.spec for record in records}
        if len(pooled) > 1:
            one, other = [f"{spec.model.mixer_name} on {spec.task.short()}" for spec in pooled.values()][:2]
            raise BadInput(
                f"lr_figure: '{label}' names {len(pooled)} cells ({one}; {other}...) and they are not pooled; "
                "recollect.report.cells.named(runs) gives every cell a name of its own"
            )
    labelled = [(label, record) for label, records in cells for record in records]
    return lr_panel(Runs.of(labelled, scale), title, threshold)


def lr_panel(runs: Runs, title: str, threshold: float = THRESHOLD) -> LRFigure:
    """The same as a panel of a figure, under its note."""
    done, styles = {label: finished(records) for label, records in by_label(runs.labelled).items()}, runs.looks
    series = tuple(_series(label, styles[label], found, threshold) for label, found in done.items() if found)
    return LRFigure(title, runs.note, series, floors(runs.records), ZOOLOGY.lrs)


def _series(label: str, look: Look, records: Sequence[Record], threshold: float) -> LRSeries:
    rates, added = by_lr(for_window(records)), [record for record in records if record.tells == ACCURACY]
    scores = [[accuracy(run) for run in found] for found in rates.values()]
    told = len(by_cell(records)) == 1 and len(rates) >= FEWEST_RATES
    window = window_of(records, threshold) if told else None
    single = 2 * sum(len(found) == 1 for found in scores) > len(scores)
    return LRSeries(
        label=label,
        look=look,
        lrs=tuple(rates),
        middle=tuple(map(statistics.median, scores)),
        low=tuple(map(min, scores)),
        high=tuple(map(max, scores)),
        counts=tuple(map(len, scores)),
        dots=tuple(run for found in rates.values() for run in found),
        window=window,
        success=success(window) if single and window is not None else None,
        best=choose(added),
    )


def draw_lr(value: LRFigure, axes: Axes) -> None:
    """A dot a seed, a line through the medians, min to max upright; or the success curve that was fitted to the dots.

    A window that is alone is shaded.
    """
    tested = [lr for series in value.series for lr in series.lrs] or list(value.grid)
    axes.set_xscale("log")
    axes.set_xlim(*outermost(tested))
    fitted = sum(series.success is not None for series in value.series)
    for place, series in enumerate(value.series):
        if series.success is not None:
            draw_success(series.success, series.look, axes, faint=fitted > 1)
        _draw_series(series, 10 ** (DODGE * (place - (len(value.series) - 1) / 2)), axes)
    if len(value.series) == 1 and (bounds := bounds_of(value.series[0].window)) is not None:
        lower, upper = bounds
        colour = value.series[0].look.colour
        axes.axvspan(10**lower.value, 10**upper.value, color=colour, alpha=0.07, linewidth=0, zorder=0)
    draw_floors(value.floors, axes)
    _draw_grid(value.grid, axes)
    _name_signs(value, axes)
    what = "success, accuracy (dots)" if fitted else "test accuracy"
    axes.set(xlabel="learning rate", ylabel=what, title=value.title, ylim=(-0.03, 1.03))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    legend(value.series, axes)


def _draw_series(series: LRSeries, aside: float, axes: Axes) -> None:
    look = series.look
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker}
    if series.success is None:
        axes.vlines(
            [lr * aside for lr in series.lrs], series.low, series.high, color=look.colour, alpha=0.6, linewidth=0.9
        )
        several = [(lr * aside, y) for lr, y, n in zip(series.lrs, series.middle, series.counts, strict=True) if n > 1]
        x, y = [lr for lr, _ in several], [middle for _, middle in several]
        for part in near(x):
            axes.plot(x[part], y[part], color=look.colour, linestyle=look.line)
    axes.plot([], [], linestyle=look.line, label=series.label, **style)
    x, y = [run.spec.train.lr * aside for run in series.dots], [accuracy(run) for run in series.dots]
    axes.scatter(x, y, s=8, alpha=0.8, linewidth=0, clip_on=False, zorder=3, **style)
    if series.best is not None:
        seen, mean = series.best.accuracies, series.best.mean
        reach = [[mean - min(seen)], [max(seen) - mean]]
        bars = axes.errorbar([series.best.lr], [mean], reach, color=look.colour, marker="D", linewidth=1, capsize=2.5)
        bars.lines[0].set(markersize=4.5, markeredgecolor="white", clip_on=False, zorder=4)


def _draw_grid(grid: Sequence[float], axes: Axes) -> None:
    first, last = axes.get_xlim()
    for place, lr in enumerate(lr for lr in grid if first <= lr <= last):
        line = axes.axvline(lr, color=INK, linewidth=0.6, linestyle=(0, (1, 3)), alpha=0.7, zorder=0)
        line.set_label("_" if place else "Zoology's grid")


def _name_signs(value: LRFigure, axes: Axes) -> None:
    """What lines and diamonds mean, in the legend."""
    if any(series.success for series in value.series):
        axes.plot([], [], color=INK, label="fitted success rate")
    if any(series.best for series in value.series):
        axes.plot([], [], color=INK, marker="D", linestyle="", label="all seeds, best lr")


def outermost(tested: Sequence[float]) -> tuple[float, float]:
    """Where the axis of learning rates begins and ends: as far out as the bars of outcomes, or a little more."""
    first, *_, last = edges(sorted(set(tested)))
    return min(first, min(tested) / 1.25), max(last, max(tested) * 1.25)


def draw_strip(value: LRFigure, axes: Axes) -> None:
    """The windows, a thin row each, above their panel."""
    axes.set_axis_off()
    draw_bars(windows_of(value), axes)
    axes.annotate("window", (0, 0.5), (-6, 0), "axes fraction", "offset points", fontsize="x-small", color=INK).set(
        ha="right", va="center"
    )


def windows_of(value: LRFigure) -> dict[str, tuple[Window, Look]]:
    """Label -> the window that it has, and its look."""
    found = {series.label: (series.window, series.look) for series in value.series}
    return {label: (window, look) for label, (window, look) in found.items() if window is not None and window.lower}


def draw_alone(value: LRFigure, axes: Axes) -> None:
    """The windows as a panel of its own, with names."""
    axes.set_xscale("log")
    axes.set(
        xlim=outermost([lr for series in value.series for lr in series.lrs] or list(value.grid)), title=value.title
    )
    axes.set_yticks(range(len(value.series)), [series.label for series in value.series])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("learning rate")
    draw_bars({series.label: (series.window, series.look) for series in value.series}, axes, thick=6)
    for y, series in enumerate(value.series):
        draw_words(series.window, y, axes)


def _panels(value: tuple[LRFigure, Runs]) -> list[Panel]:
    """How the runs of each label end is computed only where it is asked for."""
    accuracy, runs = value
    alone, rows = partial(draw_alone, accuracy), len(windows_of(accuracy))
    strip = Strip(partial(draw_strip, accuracy), alone, rows, len(accuracy.series)) if rows else None
    outcomes = [partial(_draw_outcomes, runs, series.label, accuracy.title) for series in accuracy.series]
    return [Panel(partial(draw_lr, accuracy), above=strip), *ends(outcomes)]


def _draw_outcomes(runs: Runs, label: str, title: str, axes: Axes) -> None:
    own = [record for name, record in runs.labelled if name == label]
    draw_bands(bands(own, ", ".join(filter(None, (label, title))), [record for _, record in runs.all]), axes)


LR = FigureKind(
    "lr",
    value=lambda runs, title: (lr_panel(runs, title), runs),
    panels=_panels,
    charts=lambda page: [page.lr(), page.bands()],
    parts=(WINDOW, ENDS),
)
