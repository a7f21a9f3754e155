"""Learning-rate windows side by side, and why they end where they do. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from recollect.report.bands import Bands, bands, draw_bands, ends
from recollect.report.bars import draw_rows, draw_words, span
from recollect.report.kind import ENDS, WINDOW, Panel, Runs, check_panels
from recollect.report.layout import PAPER, Print, lay_out, save
from recollect.report.lr import LRFigure, draw_lr, lr_panel
from recollect.report.style import Look
from recollect.report.success import success
from recollect.window import Found, Window

SIGNS = "curve: the share of seeds that succeed, fitted, with its 90 % interval"


@dataclass(frozen=True)
class WindowPanel:
    """One cell: its window, the success curve with the runs that it was fitted to, and how these ended."""

    label: str
    look: Look
    window: Window
    accuracy: LRFigure
    outcomes: Bands


@dataclass(frozen=True)
class WindowFigure:
    """What the figure shows; all panels know the same outcomes, in the same order."""

    title: str
    note: str
    panels: tuple[WindowPanel, ...]


def check_windows(panels: Sequence[str]) -> None:
    """Refuse the name of a panel that the figure does not have."""
    check_panels("window", (WINDOW, ENDS), panels)


def window_figure(found: Sequence[Found]) -> WindowFigure:
    """The windows that a search found, with the runs behind them."""
    runs = Runs.of([(one.label, record) for one in found for record in one.records], "")
    name, steps = f"Learning-rate window{'s' * (len(found) > 1)}", sorted({one.window.steps for one in found})
    budget = " to ".join(f"{count:,}" for count in dict.fromkeys((steps[0], steps[-1])))
    title = f"{name} at {budget} steps (validation accuracy ≥ {found[0].window.threshold:g})"
    small = f"{runs.note}; windows with their decades and 90 % intervals; white dot: best lr; {SIGNS}"
    return WindowFigure(title, small, tuple(_panel(one, runs) for one in found))


def _panel(found: Found, runs: Runs) -> WindowPanel:
    own = runs.some([(found.label, record) for record in found.records])
    accuracy, curve = lr_panel(own, found.label, found.window.threshold), success(found.window)
    series = tuple(replace(one, window=found.window, success=curve, best=None) for one in accuracy.series)
    outcomes = bands(found.records, found.label, [record for _, record in runs.all])
    return WindowPanel(found.label, runs.looks[found.label], found.window, replace(accuracy, series=series), outcomes)


def save_windows(value: WindowFigure, folder: Path, name: str, how: Print = PAPER) -> list[Path]:
    """Write the figure; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    figure = lay_out(window_panels(value), value.title, value.note, how)
    return save(figure, folder, name, ("png", "pdf", "svg"), how.style)


def window_panels(value: WindowFigure) -> list[Panel]:
    """The windows as bars on top, below them every cell's success curve; how its runs ended, for those who ask."""
    top = Panel(partial(draw_windows, value), WINDOW, inches=0.6 + 0.2 * len(value.panels), is_wide=True)
    curves = [Panel(partial(_draw_curve, value, panel)) for panel in value.panels]
    return [top, *curves, *ends([partial(draw_bands, panel.outcomes) for panel in value.panels])]


def draw_windows(value: WindowFigure, axes: Axes) -> None:
    """A bar a cell from edge to edge, thin for the edges' intervals, a dot at the best lr, width in words."""
    draw_rows({panel.label: (panel.window, panel.look) for panel in value.panels}, axes, thick=6)
    axes.tick_params(axis="y", pad=6)
    axes.set_axisbelow(True)
    for y, panel in enumerate(value.panels):
        if panel.window.lower is not None:
            axes.plot([panel.window.best_lr], [y], "o", color="white", markeredgewidth=0, zorder=4)
        for first, last in panel.window.holes:
            axes.plot([10**first, 10**last], [y, y], color="white", linewidth=6, solid_capstyle="butt")
        draw_words(panel.window, y, axes)


def _draw_curve(value: WindowFigure, panel: WindowPanel, axes: Axes) -> None:
    draw_lr(panel.accuracy, axes)
    axes.set_xlim(*span(one.window for one in value.panels))
