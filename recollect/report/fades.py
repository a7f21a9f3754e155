"""What fades with distance in one run, before training and after it, as a probe finds it."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recollect.report.inside import FadeLine
from recollect.report.style import PAGE, styled


def draw_fading(lines: Sequence[FadeLine], title: str) -> Figure:
    """A panel a line: dashed before training, solid after it."""
    with styled():
        figure = Figure(figsize=(PAGE, 0.5 * PAGE), layout="constrained")
        for axes, line in zip(figure.subplots(1, len(lines), squeeze=False)[0], lines, strict=True):
            _draw(line, axes)
        figure.suptitle(title)
    return figure


def _draw(line: FadeLine, axes: Axes) -> None:
    for values, style in ((line.before, "--"), (line.after, "-")):
        axes.plot(range(1, len(values)), values[1:], linestyle=style, linewidth=1.2)
    axes.set(xlabel="distance (dashed: before training)", title=line.label)
    if (line.after[1:] > 0).any():
        axes.set_yscale("log")
