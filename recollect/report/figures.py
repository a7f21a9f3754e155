"""A whole figure of a kind, from labelled runs: panels are laid out here, and the small print is put under them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recollect.errors import unknown
from recollect.report.ablation import ablation_figure, draw_ablation
from recollect.report.axes import empty
from recollect.report.bands import bands, draw_bands
from recollect.report.dynamics import at_best, draw_dynamics, dynamics
from recollect.report.heatmap import NAMES, Measure, Side, draw_heatmap, heatmap
from recollect.report.lengths import draw_lengths, lengths
from recollect.report.lr import draw_lr, lr_figure
from recollect.report.note import note, wrapped
from recollect.report.params import draw_params, params_figure
from recollect.report.style import INK, PAGE, RC, outputs, plain_metadata
from recollect.report.width import draw_width, width_figure
from recollect.store import Record
from recollect.window.select import Select, by_label

Labelled = Sequence[tuple[str, Record]]
Draw = Callable[[Axes], None]
HEIGHTS = {1: 0.55, 2: 0.48, 3: 0.4}
"""Panels in a row -> the height of a row over the figure's width."""

NARROWEST = 1.5
"""Inches that a panel takes at least."""

FLAT = 0.2
"""The same for outcome bands."""

MEASURES: tuple[Measure, ...] = ("accuracy", "lr", "window")


def draw_figure(
    kind: str, labelled: Labelled, title: str, scale: str, inches: float = PAGE, select: Select = "validation"
) -> Figure:
    """A figure of one kind (`KINDS`), with title and small print."""
    if kind not in KINDS:
        raise unknown("figure", kind, KINDS)
    chosen: dict[str, Select] = {"select": select} if kind in CHOOSING else {}
    panels = KINDS[kind](labelled, scale, **chosen) or [empty]
    small = note([record for _, record in labelled], scale, **chosen)
    with mpl.rc_context(RC):
        across = _across(kind, panels, inches)
        heights = [FLAT if is_flat(panels[row]) else HEIGHTS[across] for row in range(0, len(panels), across)]
        figure = Figure(figsize=(inches, sum(heights) * inches + 0.3), layout="constrained")
        grid = figure.subplots(len(heights), across, squeeze=False, height_ratios=heights).ravel()
        for axes, draw in zip(grid, panels, strict=False):
            draw(axes)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        _share_legend(list(grid))
        _align([axes for axes, draw in zip(grid, panels, strict=False) if is_flat(draw)], grid[0])
        figure.suptitle(wrapped(title, inches * 0.8), fontsize=RC["axes.titlesize"])
        figure.supxlabel(wrapped(small, inches), fontsize=6.5, color=INK)
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # laid out once, not again in every format
    return figure


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
    """Outcome bands lie under the same learning rates as the panel above them; the axis is named once."""
    for axes in flat[:-1]:
        axes.set_xlabel("")
    for axes in flat:
        if first not in flat:
            axes.set_xlim(*first.get_xlim())


def _across(kind: str, panels: Sequence[Draw], inches: float) -> int:
    """Panels in a row, each wide enough to be read."""
    room = int(inches // NARROWEST)
    if kind in ACROSS:
        return ACROSS[kind] if ACROSS[kind] <= room else 1
    if any(is_flat(panel) for panel in panels):
        return 1
    return min(2 if len(panels) == 4 else 3, len(panels), room)


def save(figure: Figure, folder: Path, name: str, endings: Sequence[str]) -> list[Path]:
    """Write a figure in these formats; the files."""
    files = outputs(folder, name, endings)
    with mpl.rc_context(RC):
        for file in files:
            figure.savefig(file, metadata=plain_metadata(file))
    return files


def by_sizes(labelled: Labelled) -> dict[str, list[tuple[str, Record]]]:
    """Task, width and depth -> its labelled runs; named by what differs between the groups."""
    groups: dict[tuple[str, ...], list[tuple[str, Record]]] = {}
    for label, record in labelled:
        spec = record.spec
        depth = f"{spec.model.n_layers} layer{'s' * (spec.model.n_layers != 1)}"
        groups.setdefault((spec.task.short(), f"d={spec.model.d_model}", depth), []).append((label, record))
    differs = [len(set(column)) > 1 for column in zip(*groups, strict=True)]
    return {
        ", ".join(part for part, shown in zip(sizes, differs, strict=True) if shown): found
        for sizes, found in sorted(groups.items(), key=lambda group: _order(group[1][0][1]))
    }


def by_panel(labelled: Labelled) -> Mapping[str, Labelled]:
    """One panel for all; where a label has several cells, a panel for each task, width and depth."""
    cells = {(label, record.cell) for label, record in labelled}
    return by_sizes(labelled) if len(cells) > len({label for label, _ in labelled}) else {"": labelled}


def _order(record: Record) -> tuple[int, int, int]:
    return record.spec.task.length, record.spec.model.d_model, record.spec.model.n_layers


def _dynamics(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    value = dynamics(at_best(labelled, select), "", scale)
    return [partial(draw_dynamics, value), partial(draw_dynamics, value, measure="loss")]


def _accuracy(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    return _dynamics(labelled, scale, select)[:1]


def is_flat(draw: Draw) -> bool:
    """Outcome bands need little height."""
    return isinstance(draw, partial) and draw.func is draw_bands


def _lr(labelled: Labelled, scale: str) -> list[Draw]:
    """Panels (`by_panel`); under one that is alone, how the runs of each label end."""
    groups = by_panel(labelled)
    alone = len(groups) == 1
    panels: list[Draw] = [
        partial(draw_lr, lr_figure(list(by_label(f).items()), name, scale), beside=alone) for name, f in groups.items()
    ]
    return panels + _bands(labelled, scale) if alone else panels


def _bands(labelled: Labelled, scale: str) -> list[Draw]:
    """A panel for each label and its sizes, all with the same outcomes."""
    everything = [record for _, record in labelled]
    return [
        partial(draw_bands, bands(records, ", ".join(filter(None, (label, name))), among=everything))
        for name, found in by_panel(labelled).items()
        for label, records in by_label(found).items()
    ]


def _lengths(labelled: Labelled, scale: str) -> list[Draw]:
    return [partial(draw_lengths, lengths(labelled, "", scale))]


def _width(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    return [partial(draw_width, column) for column in width_figure(labelled, "", scale, select).columns]


def _params(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    value = params_figure(labelled, "", scale, select)
    return [partial(draw_params, value), partial(draw_params, value, against="state")]


def _ablation(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    return [
        partial(draw_ablation, ablation_figure(found, name, scale, select))
        for name, found in by_panel(labelled).items()
    ]


def _heatmap(labelled: Labelled, scale: str, select: Select) -> list[Draw]:
    """A row of three measures for each label; over lengths where those differ, else over depths."""
    side: Side = "length" if len({record.spec.task.length for _, record in labelled}) > 1 else "depth"
    return [
        partial(draw_heatmap, heatmap(records, f"{label}\n{NAMES[measure]}", scale, measure, side, select))
        for label, records in by_label(labelled).items()
        for measure in MEASURES
    ]


KINDS: dict[str, Callable[..., list[Draw]]] = {
    "dynamics": _accuracy,
    "loss": _dynamics,
    "lr": _lr,
    "bands": _bands,
    "lengths": _lengths,
    "width": _width,
    "params": _params,
    "heatmap": _heatmap,
    "table": _ablation,
}
CHOOSING = ("dynamics", "loss", "width", "params", "heatmap", "table")
"""Kinds that show a cell at its best learning rate only."""

ACROSS = {"bands": 1, "table": 1, "dynamics": 1, "heatmap": 3, "lengths": 1, "loss": 1, "params": 2}
"""Panels in a row, where it does not follow from their number."""
