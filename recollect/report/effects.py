"""What changes do to windows: widen them, or shift them? First the value, then its drawing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from recollect.report.bars import draw_rows, span
from recollect.report.cells import cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.layout import Print, lay_out, save
from recollect.report.style import INK, looks, mixer_colour
from recollect.studies.switches import ENOUGH, reference
from recollect.window import Change, Effect, Window, effect
from recollect.window.reading import grouped


@dataclass(frozen=True)
class EffectRow:
    """A cell with its window and its accuracy at the best rate, and what was done to it against which other one.

    No effect where nothing was done, or where what it is compared with is not there.
    """

    label: str
    mixer: str
    window: Window
    accuracy: float
    against: str = ""
    effect: Effect | None = None


@dataclass(frozen=True)
class EffectsFigure:
    """What the figure shows: the cells of every model in a part of their own, by name."""

    title: str
    note: str
    parts: Mapping[str, tuple[EffectRow, ...]]


def compared(rows: Sequence[EffectRow], against: Mapping[str, str], title: str, note: str) -> EffectsFigure:
    """Rows with what was done to them; `against`: label -> the label that it is compared with.

    The cells of a model are a part, in the order given; a model of one cell stands below the first part's.
    """
    cells = {row.label: row for row in rows}
    parts = grouped(
        (row.label.partition(", ")[0], _with_effect(row, cells.get(against.get(row.label, "")))) for row in rows
    )
    whole = {name: found for name, found in parts.items() if len(found) > 1} or dict([*parts.items()][:1])
    single = [row for name, found in parts.items() if name not in whole for row in found]
    first = next(iter(whole), "")
    return EffectsFigure(
        title, note, {name: (*found, *(single if name == first else ())) for name, found in whole.items()}
    )


def _with_effect(row: EffectRow, other: EffectRow | None) -> EffectRow:
    if other is None or other.label == row.label:
        return row
    return replace(row, against=other.label, effect=effect(row.window, other.window, row.accuracy, other.accuracy))


def study_effects(runs: Runs, title: str = "") -> EffectsFigure:
    """The runs of a study of switches: each cell against the same mixer as it is."""
    found = cell_rows(runs.records, runs.labels, runs.select)
    rows = [EffectRow(row.label, row.mixer, row.window, row.choice.mean) for row in found if row.window and row.choice]
    return compared(rows, {row.label: reference(row.label) for row in rows}, title, runs.note)


def draw_windows(rows: Sequence[EffectRow], title: str, over: tuple[float, float], axes: Axes) -> None:
    """The windows, first on top, with the intervals of their edges."""
    axes.set_title(title)
    draw_rows({row.label: (row.window, looks([(row.label, row.mixer)])[row.label]) for row in rows}, axes, over)
    whose = f"{rows[0].label.partition(', ')[0]}, "
    axes.set_yticks(range(len(rows)), [row.label.removeprefix(whose) for row in rows], fontsize=6.5)
    for y in (y for y, row in enumerate(rows) if row.window.width is None):
        axes.annotate(
            "no window", (0.5, y), xycoords=("axes fraction", "data"), ha="center", va="center", fontsize=6, color=INK
        )


def reach(rows: Sequence[EffectRow]) -> tuple[float, float]:
    """The decades over which all changes of these rows can be seen."""
    known = [row.effect for row in rows if row.effect is not None]
    ends = [x for one in known for change in (one.widening, one.shift) if change for x in _ends(change)]
    return min([-0.5, *ends]) - 0.1, max([0.5, *ends]) + 0.1


def draw_changes(rows: Sequence[EffectRow], title: str, over: tuple[float, float], axes: Axes) -> None:
    """Widening and shift of every row against the first, in decades with 90 % intervals; the lost accuracy beside."""
    axes.set_title(title)
    axes.set(xlim=over, xlabel="decades: ● widening, ○ shift")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=INK, alpha=0.2, linewidth=0.5)
    axes.set_yticks(range(len(rows)), [""] * len(rows))
    axes.annotate("accuracy", (1.02, -0.6), xycoords=("axes fraction", "data"), va="bottom", fontsize=6, color=INK)
    for x, line in ((0.0, "-"), (ENOUGH, (0, (4, 2)))):
        axes.axvline(x, color=INK, linewidth=0.8, linestyle=line, zorder=0)
    for y, row in enumerate(rows):
        if row.effect is None:
            continue
        hue = mixer_colour(row.mixer)
        _draw_change(row.effect.widening, y - 0.14, hue, hue, axes)
        if row.effect.shift is not None:
            _draw_change(row.effect.shift, y + 0.14, hue, "white", axes)
        axes.annotate(
            row.effect.gain, (1.02, y), xycoords=("axes fraction", "data"), va="center", fontsize=6, color=INK
        )


def _ends(change: Change) -> list[float]:
    return [x for x in (change.decades.value, change.decades.low, change.decades.high) if math.isfinite(x)]


def _draw_change(change: Change, y: float, hue: str, inside: str, axes: Axes) -> None:
    """A dot and its interval, to the edge of the panel where the runs do not bound it."""
    low, high = axes.get_xlim()
    found = change.decades
    axes.plot([max(low, found.low), min(high, found.high)], [y, y], color=hue, linewidth=1)
    axes.plot([found.value], [y], "o", color=hue, markerfacecolor=inside, markersize=3, markeredgewidth=0.8)


def _panels(value: EffectsFigure) -> list[Panel]:
    """Two a model; those of one kind share their range, so that models can be compared."""
    drawn: list[Panel] = []
    every = [row for rows in value.parts.values() for row in rows]
    if not every:
        return []
    ranges = ((draw_windows, span(row.window for row in every)), (draw_changes, reach(every)))
    for name, rows in value.parts.items():
        title = ", ".join(filter(None, (name, value.title)))
        inches = 0.9 + 0.2 * len(rows)
        drawn += [Panel(partial(draw, rows, title, over), inches=inches) for draw, over in ranges]
    return drawn


def save_effects(value: EffectsFigure, folder: Path, name: str, how: Print) -> list[Path]:
    """Write the figure of a command; a study's is one of `recollect.report.figures`."""
    figure = lay_out(_panels(value), "", value.note, replace(how, panels=()), across=2)
    return save(figure, folder, name, ("png", "pdf", "svg"), how.style)


EFFECTS = FigureKind(
    "effects",
    value=study_effects,
    panels=_panels,
    charts=lambda page: [page.ablation(), page.lr()],
    chooses=True,
    across=2,
)
