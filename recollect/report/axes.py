"""What several figures put on their axes."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from recollect.report.style import INK


def draw_floors(floors: Mapping[str, float], axes: Axes, *, beside: bool = False, upright: bool = False) -> None:
    """The accuracy of models that do not recall: dashed lines, each named at its right end or `beside` it.

    Where accuracy runs to the right they are `upright` and named above, the lowest to its left.
    """
    below = min(floors.values(), default=0.0)
    for i, (name, level) in enumerate(floors.items()):
        rule = axes.axvline if upright else axes.axhline
        rule(level, color=INK, linewidth=0.8, linestyle=(0, (4, 2)) if i else (0, (1, 2)), zorder=0)
        is_above, text = level > below, f"{name} ({level:.0%})"
        if upright:
            named = axes.annotate(text, (level, 1), (0, 2), ("data", "axes fraction"), "offset points", fontsize=6.5)
            named.set(ha="left" if is_above else "right", color=INK)
            continue
        shift = (3, 0) if beside else (-2, 2 if is_above else -2)
        named = axes.annotate(text, (1, level), shift, ("axes fraction", "data"), "offset points", fontsize=6.5)
        named.set(ha="left" if beside else "right", va="bottom" if is_above else "top", color=INK)
        named.set_path_effects([withStroke(linewidth=1.5, foreground="white")])


def legend(shown: Sequence[object], axes: Axes, *, beside: bool = False, **looks: Any) -> None:
    """Name what is shown, inside the panel or `beside` it, to the right, where no line is; say so where nothing is."""
    if not shown:
        empty(axes)
    elif beside:
        axes.legend(**looks | {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)})
    else:
        axes.legend(**looks)


def empty(axes: Axes) -> None:
    """Say that there is nothing to draw yet."""
    axes.text(0.5, 0.5, "no finished run", transform=axes.transAxes, ha="center", va="center", color=INK)
