"""How a figure is printed: its panels in rows, one legend beside or above them, title and small print around."""

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from recollect.errors import BadInput
from recollect.report.axes import empty
from recollect.report.kind import MAIN, WINDOW, Panel
from recollect.report.note import titled, wrapped
from recollect.report.style import INK, PAGE, PLAIN, styled

HEIGHTS = {1: 0.42, 2: 0.42, 3: 0.36}
"""Panels in a row -> the height of a row over the figure's width."""

LEAST = 1.55
"""Inches that a row takes at least, where nobody says how high the figure is."""

NARROWEST = 1.5
"""Inches that a panel takes at least."""

BESIDE = 4.5
"""Inches from which on there is room for names to the right of one panel."""

MOST = 32
"""Panels of one figure: as many as the paper's largest has; a page can hold no more."""

LINE, ROW = 0.13, 0.08
"""Inches of a line of text, and of a window in the strip above a panel."""


@dataclass(frozen=True)
class Print:
    """A figure on paper: inches, what stands around the panels, which panels (by name), and whose style sheets."""

    width: float = PAGE
    height: float | None = None
    title: bool = True
    note: bool = True
    panels: tuple[str, ...] = ()
    style: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse sizes that no panel fits into, and styles that are not there."""
        for name, inches in (("width", self.width), ("height", self.height)):
            if inches is not None and not 1 <= inches <= 40:
                raise BadInput(f"--{name}: must be from 1 to 40 inches (got {inches:g})")
        styled(*self.style)


PAPER = Print()
"""A figure as wide as a page, with everything."""


def lay_out(panels: Sequence[Panel], title: str, note: str, how: Print, across: int | None = None) -> Figure:
    """The figure; laid out once, not again in every format. `across` are the panels in a row, if they know."""
    found = _fitting(_chosen(panels, how.panels), how.width)
    shown = found[:MOST]
    left_out = f". {MOST} of {len(found)} panels; the tables have all" if len(found) > MOST else ""
    with styled(*how.style):
        rows = _rows(shown, across, how.width)
        heights = [_height(row, how.width) for row in rows]
        small = wrapped(note + left_out, how.width) if how.note else ""
        figure = Figure(layout="constrained")
        part = figure.add_subfigure(figure.add_gridspec()[0])
        _draw(rows, heights, part)
        lines = _share_legend(part, how.width, is_single=max(map(len, rows)) == 1)
        around = LINE * (1 + small.count("\n")) * bool(small) + LINE * (1.6 * (how.title and bool(title)) + 1.2 * lines)
        figure.set_size_inches(how.width, how.height or sum(heights) + around)
        if how.title:
            figure.suptitle(titled(title, how.width))
        figure.supxlabel(small, fontsize="small", color=INK)
        _take_literally(figure)
        _place(figure, len(shown))
    return figure


def _place(figure: Figure, panels: int) -> None:
    """Find room for everything, or say that there is none."""
    layout = figure.get_layout_engine()
    assert layout is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            layout.execute(figure)
        except UserWarning:
            width, height = figure.get_size_inches()
            given = f"{width:g} x {height:g} inches are too few for {panels} panel{'s' * (panels != 1)} and their names"
            raise BadInput(f"--width, --height: {given}; give more, or choose panels by --panel") from None
    figure.set_layout_engine(None)


def save(figure: Figure, folder: Path, name: str, endings: Sequence[str], style: Sequence[str] = ()) -> list[Path]:
    """Write a figure in these formats; the files."""
    files = [folder / f"{name}.{ending}" for ending in endings]
    with styled(*style):
        for file in files:
            figure.savefig(file, metadata=PLAIN.get(file.suffix))
    return files


def _chosen(panels: Sequence[Panel], names: Sequence[str]) -> list[Panel]:
    """The panels of these names; without names all but the extras. A strip alone becomes a panel."""
    if not names:
        return [panel for panel in panels if not panel.is_extra]
    found: list[Panel] = []
    for panel in panels:
        strip = panel.above if WINDOW in names else None
        if panel.name in names or (MAIN in names and not panel.is_extra):
            found.append(replace(panel, above=strip))
        elif strip is not None and not panel.is_extra:
            found.append(Panel(strip.draw_alone, WINDOW, inches=0.5 + 0.18 * strip.names, is_wide=True))
    return found or [Panel(empty)]


def _fitting(panels: Sequence[Panel], width: float) -> list[Panel]:
    """Without those that need more inches; the panel before one of them has its row alone."""
    found: list[Panel] = []
    for panel in panels:
        if width >= panel.needs:
            found.append(panel)
        else:
            found[-1] = replace(found[-1], is_wide=True)
    return found


def _rows(panels: Sequence[Panel], across: int | None, width: float) -> list[list[Panel]]:
    """Panels side by side, each wide enough to be read; a wide one has a row of its own."""
    narrow = sum(not panel.is_wide for panel in panels)
    room = max(1, int(width // NARROWEST))
    most = across if across is not None and across <= room else min(2 if narrow in (2, 4) else 3, max(narrow, 1), room)
    most = 1 if across is not None and across > room else most
    rows: list[list[Panel]] = []
    for panel in panels:
        if rows and not panel.is_wide and not rows[-1][0].is_wide and len(rows[-1]) < most:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _height(row: Sequence[Panel], width: float) -> float:
    if row[0].inches is not None:
        return row[0].inches
    strip = max((ROW * panel.above.rows + 0.08 if panel.above else 0.0) for panel in row)
    return max(LEAST, HEIGHTS[len(row)] * width) + strip


def _draw(rows: Sequence[Sequence[Panel]], heights: Sequence[float], part: SubFigure) -> None:
    """Every panel on its axes, with the strip above it; the rows of one figure share as many columns."""
    columns = max(map(len, rows))
    grid = part.add_gridspec(len(rows), columns, height_ratios=heights)
    first: Axes | None = None
    for i, row in enumerate(rows):
        beside: list[Axes] = []
        for j, panel in enumerate(row):
            axes = part.add_subplot(grid[i, :] if panel.is_wide else grid[i, j])
            panel.draw(axes)
            if panel.above is not None:
                panel.above.draw(_above(axes, ROW * panel.above.rows))
            said = [other.get_ylabel() for other in beside]
            beside.append(axes)
            if axes.get_ylabel() in said:
                axes.set_ylabel("")
            if panel.aligns:
                _align(axes, first, is_last=i + 1 == len(rows) or not rows[i + 1][0].aligns)
            else:
                first = axes


def _above(axes: Axes, inches: float) -> Axes:
    """Flat axes of this height on top of others."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    top: Any = axes.transAxes
    height = figure.dpi_scale_trans + ScaledTranslation(0, 1, top)
    return axes.inset_axes(
        (0, 0.04, 1, inches), transform=blended_transform_factory(axes.transAxes, height), sharex=axes
    )


def _align(axes: Axes, above: Axes | None, *, is_last: bool) -> None:
    """The learning rates of the panel above; the lowest of several names them."""
    if above is not None:
        axes.set_xlim(*above.get_xlim())
    if not is_last:
        axes.set_xlabel("")
        axes.tick_params(which="both", labelbottom=False)


def _share_legend(part: SubFigure, width: float, *, is_single: bool) -> float:
    """One legend for all panels, to the right of a single column of them, else above; how many lines it takes."""
    entries: dict[str, Artist] = {}
    for axes in part.axes:
        if (own := axes.get_legend()) is not None:
            own.remove()
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                entries.setdefault(label, handle)
    if not entries:
        return 0
    entries = dict(sorted(entries.items(), key=lambda entry: _is_sign(entry[1])))
    if is_single and width >= BESIDE:
        part.legend(list(entries.values()), list(entries), loc="outside right upper", borderaxespad=0.2)
        return 0
    columns = _columns(list(entries), width)
    part.legend(list(entries.values()), list(entries), loc="outside upper center", ncols=columns, borderaxespad=0.2)
    return math.ceil(len(entries) / columns)


def _is_sign(handle: Artist) -> bool:
    """Floors and the like, which stand behind the series."""
    return isinstance(handle, Line2D) and handle.get_color() == INK


def _columns(labels: Sequence[str], width: float) -> int:
    """As many columns as fit side by side; matplotlib fills them one after the other, the first ones longer."""
    size = FontProperties(size=mpl.rcParams["legend.fontsize"]).get_size_in_points()
    rc: Any = mpl.rcParams
    around = size * sum(rc[f"legend.{part}"] for part in ("handlelength", "handletextpad", "columnspacing"))
    wide = [
        TextPath((0, 0), label.replace("$", "S") or " ", size=size).get_extents().width + around for label in labels
    ]
    for columns in range(len(labels), 1, -1):
        rows, longer = divmod(len(labels), columns)
        ends = [rows * i + min(i, longer) for i in range(columns + 1)]
        if sum(max(wide[first:last]) for first, last in itertools.pairwise(ends)) < (width - 0.1) * 72:
            return columns
    return 1


def _take_literally(figure: Figure) -> None:
    """A dollar sign in a name begins no formula; the powers of ten on the axes stay formulas."""
    found = [
        *figure.texts,
        *(text for part in figure.subfigs for legend in part.legends for text in legend.get_texts()),
    ]
    for axes in figure.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        named = [axis for axis in (axes.xaxis, axes.yaxis) if isinstance(axis.get_major_locator(), FixedLocator)]
        found += [label for axis in named for label in axis.get_ticklabels() if isinstance(label, Text)]
    for text in found:
        text.set_parse_math(False)
