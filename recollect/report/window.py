"""Learning-rate windows side by side, and why they end where they do. First the value, then its drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from recollect.report.bands import Bands, bands, draw_bands
from recollect.report.figures import save
from recollect.report.kind import Runs
from recollect.report.lr import LRFigure, draw_lr, lr_panel
from recollect.report.note import wrapped
from recollect.report.style import INK, PAGE, RC, looks, outcome_colour
from recollect.window import Estimate, Found, Window

COLUMNS = 3
"""Cells side by side; more go below."""


@dataclass(frozen=True)
class WindowPanel:
    """One cell: its window, accuracy against learning rate, and how its runs ended."""

    label: str
    window: Window
    accuracy: LRFigure
    outcomes: Bands


@dataclass(frozen=True)
class WindowFigure:
    """What the figure shows; all panels know the same outcomes, in the same order."""

    title: str
    note: str
    panels: tuple[WindowPanel, ...]


def window_figure(found: Sequence[Found]) -> WindowFigure:
    """The windows that a search found, with the runs behind them."""
    runs = Runs.of([(one.label, record) for one in found for record in one.records], "")
    name, steps = f"Learning-rate window{'s' * (len(found) > 1)}", sorted({one.window.steps for one in found})
    budget = " to ".join(f"{count:,}" for count in dict.fromkeys((steps[0], steps[-1])))
    title = f"{name} at {budget} steps (validation accuracy ≥ {found[0].window.threshold:g})"
    small = f"{runs.note}; whiskers: 90 % intervals of the edges; white dot: best lr; vertical dashes: Zoology's grid"
    return WindowFigure(title, small, tuple(_panel(one, runs) for one in found))


def _panel(found: Found, runs: Runs) -> WindowPanel:
    own = runs.some([(found.label, record) for record in found.records])
    accuracy = lr_panel(own, found.label, found.window.threshold)
    accuracy = replace(accuracy, series=tuple(replace(one, window=found.window) for one in accuracy.series))
    return WindowPanel(found.label, found.window, accuracy, bands(found.records, among=runs.among))


def save_windows(value: WindowFigure, folder: Path, name: str) -> list[Path]:
    """Write the figure; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(RC):
        return save(draw_window_figure(value), folder, name, ("png", "pdf", "svg"))


def draw_window_figure(value: WindowFigure) -> Figure:
    """The windows as bars on top, below them every cell's accuracy and outcomes."""
    columns = min(COLUMNS, len(value.panels))
    rows = math.ceil(len(value.panels) / columns)
    width = PAGE if columns < COLUMNS else 1.35 * PAGE
    heights = [0.75 + 0.24 * len(value.panels), *[2.6] * rows, 0.5]
    figure = Figure(figsize=(width, sum(heights) + 0.3), layout="constrained")
    figure.suptitle(value.title, fontsize=9)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    draw_windows(value, parts[0].subplots())
    for row in range(rows):
        _draw_row(value, value.panels[row * columns : (row + 1) * columns], columns, parts[row + 1])
    _small_print(value, width, parts[-1])
    return figure


def draw_windows(value: WindowFigure, axes: Axes) -> None:
    """A bar a cell from edge to edge, whiskers for the edges' intervals, a dot at the best lr, width in words."""
    styles = looks([(series.label, series.mixer) for panel in value.panels for series in panel.accuracy.series])
    low, high = _range(value)
    axes.set_xscale("log")
    axes.set(xlim=(low, high), ylim=(len(value.panels) - 0.45, -0.55), xlabel="learning rate")
    axes.set_yticks(range(len(value.panels)), [panel.label for panel in value.panels])
    axes.tick_params(axis="y", length=0, pad=6)
    axes.grid(axis="x", color=INK, alpha=0.2, linewidth=0.5)
    axes.set_axisbelow(True)
    for y, panel in enumerate(value.panels):
        _bar(panel.window, y, styles[panel.label].colour, axes)
        words, sides = _words(panel.window), ("axes fraction", "data")
        axes.annotate(words, (1.03, y), xycoords=sides, va="center", fontsize=7, color=INK)


def _bar(window: Window, y: float, colour: str, axes: Axes) -> None:
    """One window; a hole in it is left white."""
    if window.lower is None or window.upper is None:
        return
    left, right = 10**window.lower.value, 10**window.upper.value
    axes.barh(y, right - left, 0.52, left, color=colour, alpha=0.8, linewidth=0)
    for first, last in window.holes:
        axes.barh(y, 10**last - 10**first, 0.52, 10**first, color="white", linewidth=0)
    for edge, outwards in ((window.lower, "<"), (window.upper, ">")):
        _whisker(edge, outwards, y, axes)
    axes.plot([window.best_lr], [y], "o", markersize=3.2, markerfacecolor="white", markeredgewidth=0, zorder=4)


def _whisker(edge: Estimate, outwards: str, y: float, axes: Axes) -> None:
    """The interval of an edge; an arrow where the runs do not bound it."""
    low, high = axes.get_xlim()
    ends = [max(low, 10.0**edge.low), min(high, 10.0**edge.high)]
    axes.plot(ends, [y, y], color="black", linewidth=0.9, solid_capstyle="butt", zorder=3)
    for end, x in zip(ends, (edge.low, edge.high), strict=True):
        mark = outwards if math.isinf(x) else "|"
        axes.plot([end], [y], mark, color="black", markersize=4.5, markeredgewidth=0.9, clip_on=False, zorder=3)


def _words(window: Window) -> str:
    if window.width is None:
        return f"no window: {window.flags[0]}"
    return f"{window.width.value:.2f} decades ({window.width.interval()}), {window.n_runs} runs"


def _range(value: WindowFigure) -> tuple[float, float]:
    """The learning rates that were looked at, with a little air."""
    low = min(panel.window.low for panel in value.panels)
    high = max(panel.window.high for panel in value.panels)
    return 10 ** (low - 0.1), 10 ** (high + 0.1)


def _draw_row(value: WindowFigure, panels: Sequence[WindowPanel], columns: int, part: SubFigure) -> None:
    """Accuracy above outcomes, a column a cell."""
    axes = part.subplots(2, columns, height_ratios=[2, 1], sharex=True, sharey="row", squeeze=False)
    for column, (upper, lower) in enumerate(axes.T):
        if column >= len(panels):
            upper.set_axis_off()
            lower.set_axis_off()
            continue
        draw_lr(panels[column].accuracy, upper)
        draw_bands(panels[column].outcomes, lower)
        for one in (upper, lower):
            one.get_legend().remove()
            one.set(xlim=_range(value), **({} if column == 0 else {"ylabel": ""}))
        upper.set(xlabel="")


def _small_print(value: WindowFigure, width: float, part: SubFigure) -> None:
    """One legend of the outcomes for all panels, and the note."""
    kinds = list(value.panels[0].outcomes.shares)
    handles = [Patch(color=outcome_colour(kind, kinds), label=kind) for kind in kinds]
    part.legend(handles=handles, loc="upper center", ncols=len(handles), handlelength=1, handleheight=1, borderpad=0)
    part.text(0.5, 0.0, wrapped(value.note, width), ha="center", va="bottom", fontsize=6.5, color=INK)
