"""Windows as bars over the learning rate: a row each, with what is not known of their ends."""

import math
from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes

from recollect.report.style import INK, Look
from recollect.window import Estimate, Window


def bounds_of(window: Window | None) -> tuple[Estimate, Estimate] | None:
    """The edges of a window that there is."""
    if window is None or window.lower is None or window.upper is None:
        return None
    return window.lower, window.upper


def draw_bars(windows: Mapping[str, tuple[Window | None, Look]], axes: Axes, thick: float = 2.6) -> None:
    """A bar a window from edge to edge, thin where its ends may lie (90 %), an arrow where the runs do not bound it."""
    axes.set_ylim(len(windows) - 0.4, -0.6)
    first, last = axes.get_xlim()
    for y, (window, look) in enumerate(windows.values()):
        if (bounds := bounds_of(window)) is None:
            continue
        axes.plot(
            [10**edge.value for edge in bounds], [y, y], color=look.colour, linewidth=thick, solid_capstyle="butt"
        )
        for edge, outwards in zip(bounds, "<>", strict=True):
            low, high = max(first, 10**edge.low), min(last, 10**edge.high)
            axes.plot([low, high], [y, y], color=look.colour, linewidth=0.8, marker="|", markersize=4)
            if math.isinf(edge.low) or math.isinf(edge.high):
                end = low if outwards == "<" else high
                axes.plot([end], [y], outwards, color=look.colour, markersize=4, clip_on=False)


def draw_rows(
    windows: Mapping[str, tuple[Window, Look]], axes: Axes, over: tuple[float, float] | None = None, thick: float = 5
) -> None:
    """Windows as rows of a panel of their own, named at the left, over these rates or those that were looked at."""
    axes.set_xscale("log")
    axes.set(xlim=over or span(window for window, _ in windows.values()), xlabel="learning rate")
    axes.set_yticks(range(len(windows)), list(windows))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.2, linewidth=0.5)
    draw_bars(windows, axes, thick)


def draw_words(window: Window | None, y: float, axes: Axes) -> None:
    """The width of a window in words, at the right of its bar."""
    if window is not None:
        words = f"none: {window.flags[0]}" if window.width is None else str(window.width)
        side = ("axes fraction", "data")
        axes.annotate(words, (1.05, y), xycoords=side, va="center", fontsize="small", color=INK)


def span(windows: Iterable[Window]) -> tuple[float, float]:
    """The learning rates that were looked at, with a little air."""
    low, high = zip(*((window.low, window.high) for window in windows), strict=True)
    return 10 ** (min(low) - 0.1), 10 ** (max(high) + 0.1)
