"""What fades with distance in one run, before training and after it, as a probe finds it."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recollect.report.inside import FadeLine
from recollect.report.note import titled
from recollect.report.style import PAGE, styled

NARROW = 1.4
"""Inches that a panel takes at least."""


def draw_fading(lines: Sequence[FadeLine], title: str) -> Figure:
    """A panel a line: dashed before training, solid after it."""
    width = max(PAGE, NARROW * len(lines))
    with styled():
        figure = Figure(figsize=(width, 0.5 * PAGE), layout="constrained")
        for axes, line in zip(figure.subplots(1, len(lines), squeeze=False)[0], lines, strict=True):
            _draw(line, axes)
            axes.set_title(titled(line.label, 0.75 * width / len(lines)))
        figure.suptitle(titled(title, width))
        figure.supxlabel("distance (dashed: before training)", fontsize="medium")
    return figure


def _draw(line: FadeLine, axes: Axes) -> None:
    for values, style in ((line.before, "--"), (line.after, "-")):
        axes.plot(range(1, len(values)), values[1:], linestyle=style, linewidth=1.2)
    if (line.after[1:] > 0).any():
        axes.set_yscale("log")
