"""What several figures put on their axes."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from recollect.report.style import INK


def draw_floors(floors: Mapping[str, float], axes: Axes, *, beside: bool = False) -> None:
    """The accuracy of models that do not recall: dashed lines, each named at its right end or beside it."""
    below = min(floors.values(), default=0.0)
    for i, (name, level) in enumerate(floors.items()):
        axes.axhline(level, color=INK, linewidth=0.8, linestyle=(0, (4, 2)) if i else (0, (1, 2)), zorder=0)
        is_above, text = level > below, f"{name} ({level:.0%})"
        shift = (3, 0) if beside else (-2, 2 if is_above else -2)
        named = axes.annotate(text, (1, level), shift, ("axes fraction", "data"), "offset points", fontsize=6.5)
        named.set(ha="left" if beside else "right", va="bottom" if is_above else "top", color=INK)
        named.set_path_effects([withStroke(linewidth=1.5, foreground="white")])


def legend_beside(axes: Axes, **looks: float) -> None:
    """The legend to the right of the panel, where no line is."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), **looks)


def empty(axes: Axes) -> None:
    """Say that there is nothing to draw yet."""
    axes.text(0.5, 0.5, "no finished run", transform=axes.transAxes, ha="center", va="center", color=INK)


def draw_upright_floors(floors: Mapping[str, float], axes: Axes) -> None:
    """The same where accuracy runs to the right: upright lines, named above, the lowest to its left."""
    below = min(floors.values(), default=0.0)
    for i, (name, level) in enumerate(floors.items()):
        axes.axvline(level, color=INK, linewidth=0.8, linestyle=(0, (4, 2)) if i else (0, (1, 2)), zorder=0)
        text = f"{name} ({level:.0%})"
        named = axes.annotate(text, (level, 1), (0, 2), ("data", "axes fraction"), "offset points", fontsize=6.5)
        named.set(ha="left" if level > below else "right", color=INK)
