"""An ablation as a picture: one line a model, every seed a dot. First the value, then its drawing."""

from functools import partial

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, empty
from recollect.report.cells import CellsFigure, cell_rows
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, mixer_colour
from recollect.window.select import Labelled, Select


def ablation_figure(labelled: Labelled, title: str, scale: str, select: Select = "validation") -> CellsFigure:
    """The cells under their labels, each at its best learning rate, first on top."""
    return _value(Runs.of(labelled, scale, select), title)


def _value(runs: Runs, title: str) -> CellsFigure:
    rows = [row for row in cell_rows(runs.records, runs.labels, runs.select) if row.choice is not None]
    return CellsFigure(title, runs.note, tuple(rows), floors(runs.records))


def draw_ablation(value: CellsFigure, axes: Axes) -> None:
    """Mean as a bar mark, seeds as dots, min to max as a line, the mean's number at the right.

    Where widths differ, models are named with layers x width and their number of parameters.
    """
    axes.set(xlabel="test accuracy at the best lr", xlim=(-0.02, 1.02))
    axes.set_title(value.title, pad=12)
    if not value.rows:
        empty(axes)
        return
    for place, row in enumerate(value.rows):
        assert row.choice is not None
        hue, seen = mixer_colour(row.mixer), row.choice.accuracies
        axes.plot([min(seen), max(seen)], [place] * 2, color=hue, linewidth=1, alpha=0.6)
        axes.scatter(seen, [place] * len(seen), s=14, color=hue, alpha=0.7, linewidth=0, clip_on=False)
        axes.plot([row.choice.mean], [place], color=hue, marker="|", markersize=9, markeredgewidth=1.6)
        text = f"{row.choice.mean:.1%} at {row.choice.lr:.2g}"
        side = ("axes fraction", "data")
        axes.annotate(text, (1.05, place), xycoords=side, va="center", fontsize="small", color=INK)
    models = [(row, row.spec.model) for row in value.rows]
    sizes = len({model.d_model for _, model in models}) > 1
    shapes = [f"\n{model.n_layers} x {model.d_model}, {row.n_params:,} parameters" * sizes for row, model in models]
    axes.set_yticks(range(len(models)), [row.label + shape for row, shape in zip(value.rows, shapes, strict=True)])
    axes.set_ylim(len(value.rows) - 0.4, -0.6)
    draw_floors(value.floors, axes, upright=True)


TABLE = FigureKind(
    "table",
    value=_value,
    panels=lambda value: [Panel(partial(draw_ablation, value), inches=0.75 + 0.24 * max(2, len(value.rows)))],
    charts=lambda page: [page.ablation(), page.lr()],
    chooses=True,
    across=1,
)
