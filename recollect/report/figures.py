"""All kinds of figures, and a whole figure of one: panels are laid out here, and the small print is put under them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from recollect.report.ablation import TABLE
from recollect.report.axes import empty
from recollect.report.bands import BANDS
from recollect.report.dynamics import DYNAMICS, LOSS
from recollect.report.heatmap import HEATMAP
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.lengths import LENGTHS
from recollect.report.lr import LR
from recollect.report.map import MAP
from recollect.report.note import wrapped
from recollect.report.params import PARAMS
from recollect.report.style import INK, PAGE, PLAIN, RC
from recollect.report.width import WIDTH
from recollect.spec.registry import Registry
from recollect.window.select import Labelled, Select

KINDS: tuple[FigureKind[Any], ...] = (DYNAMICS, LOSS, LR, BANDS, LENGTHS, WIDTH, PARAMS, HEATMAP, MAP, TABLE)
FIGURES = Registry("figure", ((kind.name, kind) for kind in KINDS))

HEIGHTS = {1: 0.55, 2: 0.48, 3: 0.4}
"""Panels in a row -> the height of a row over the figure's width."""

NARROWEST = 1.5
"""Inches that a panel takes at least."""

MOST = 32
"""Panels of one figure: as many as the paper's largest has; a page can hold no more."""

FLAT = 0.2
"""The height of a flat panel over the figure's width."""


def draw_figure(
    kind: str, labelled: Labelled, title: str, scale: str, inches: float = PAGE, select: Select = "validation"
) -> Figure:
    """A figure of one kind (`FIGURES`), with title and small print."""
    found = FIGURES.find(kind)
    return draw_runs(found, found.runs(labelled, scale, select), title, inches)


def draw_runs(kind: FigureKind[Any], runs: Runs, title: str, inches: float = PAGE) -> Figure:
    """The same from runs that the page shows too."""
    found = kind.drawn(runs) or [Panel(empty)]
    panels = found[:MOST]
    left_out = f". {MOST} of {len(found)} panels; the tables have all" if len(found) > MOST else ""
    with mpl.rc_context(RC):
        across = _across(kind, panels, inches)
        heights = [FLAT if panels[row].is_flat else HEIGHTS[across] for row in range(0, len(panels), across)]
        figure = Figure(figsize=(inches, sum(heights) * inches + 0.3), layout="constrained")
        grid = figure.subplots(len(heights), across, squeeze=False, height_ratios=heights).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            panel.draw(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        _share_legend(list(grid))
        _align([axes for axes, panel in zip(grid, panels, strict=False) if panel.is_flat], grid[0])
        figure.suptitle(wrapped(title, inches * 0.8), fontsize=RC["axes.titlesize"])
        figure.supxlabel(wrapped(runs.note + left_out, inches), fontsize=6.5, color=INK)
        _take_literally(figure)
        layout = figure.get_layout_engine()
        assert layout is not None
        layout.execute(figure)
        figure.set_layout_engine(None)  # laid out once, not again in every format
    return figure


def _take_literally(figure: Figure) -> None:
    """A dollar sign in a name begins no formula; the powers of ten on the axes are put there later."""
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_text():
            text.set_parse_math(False)


def _share_legend(grid: list[Axes]) -> None:
    """A legend that says the same as one before it is left out."""
    known: list[list[str]] = []
    for axes in grid:
        if (legend := axes.get_legend()) is not None:
            entries = [text.get_text() for text in legend.get_texts()]
            if entries in known:
                legend.remove()
            known.append(entries)


def _align(flat: list[Axes], first: Axes) -> None:
    """Flat panels lie under the same learning rates as the panel above them; the axis is named once."""
    for axes in flat[:-1]:
        axes.set_xlabel("")
    for axes in flat:
        if first not in flat:
            axes.set_xlim(*first.get_xlim())


def _across(kind: FigureKind[Any], panels: Sequence[Panel], inches: float) -> int:
    """Panels in a row, each wide enough to be read."""
    room = max(1, int(inches // NARROWEST))
    if kind.across is not None:
        return kind.across if kind.across <= room else 1
    if any(panel.is_flat for panel in panels):
        return 1
    return min(2 if len(panels) == 4 else 3, len(panels), room)


def save(figure: Figure, folder: Path, name: str, endings: Sequence[str]) -> list[Path]:
    """Write a figure in these formats; the files."""
    files = [folder / f"{name}.{ending}" for ending in endings]
    with mpl.rc_context(RC):
        for file in files:
            figure.savefig(file, metadata=PLAIN.get(file.suffix))
    return files
