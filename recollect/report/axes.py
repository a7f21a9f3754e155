"""What several figures put on their axes."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from recollect.report.style import INK

FAR = 5.0
"""The ratio of two learning rates across which no line is drawn: nobody looked in between."""


def draw_floors(floors: Mapping[str, float], axes: Axes, *, upright: bool = False) -> None:
    """The accuracy of models that do not recall: dashed lines, named in the legend, their levels at the right end.

    Where accuracy runs to the right they are `upright` and named above, the lowest to its left.
    """
    below = min(floors.values(), default=0.0)
    for i, (name, level) in enumerate(floors.items()):
        rule, dash = axes.axvline if upright else axes.axhline, (0, (4, 2)) if i else (0, (1, 2))
        line = rule(level, color=INK, linewidth=0.8, linestyle=dash, zorder=0)
        is_above = level > below
        if upright:
            text, side = f"{name} ({level:.0%})", ("data", "axes fraction")
            named = axes.annotate(text, (level, 1), (0, 2), side, "offset points", fontsize="small")
            named.set(ha="left" if is_above else "right", color=INK)
            continue
        line.set_label(name)
        side = ("axes fraction", "data")
        named = axes.annotate(f"{level:.0%}", (1, level), (2, 0), side, "offset points", fontsize="x-small")
        named.set(ha="left", va="bottom" if is_above else "top", color=INK)


def near(x: Sequence[float], far: float = FAR) -> list[slice]:
    """The stretches of rising numbers whose neighbours are close enough to be joined by a line."""
    cuts = [i for i, (one, other) in enumerate(itertools.pairwise(x), start=1) if other > far * one]
    return [slice(*ends) for ends in itertools.pairwise((0, *cuts, len(x)))]


def legend(shown: Sequence[object], axes: Axes, **looks: Any) -> None:
    """Name what is shown; say so where nothing is. A whole figure gathers the names of its panels outside of them."""
    if shown:
        axes.legend(**looks)
    else:
        empty(axes)


def empty(axes: Axes) -> None:
    """Say that there is nothing to draw: no run, or too few for what is shown; the note below tells which."""
    axes.text(0.5, 0.5, "nothing to show yet", transform=axes.transAxes, ha="center", va="center", color=INK)
