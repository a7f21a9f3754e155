"""Windows of many models as one strip chart, a table at the right. First the value, then its drawing."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from recollect.report.bars import draw_rows
from recollect.report.cells import CellRow, cell_rows, machine
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.style import INK, Look
from recollect.window import Window

ROOM = {"decades (90 %)": 26, "accuracy": 20, "seeds": 13, "steps": 13, "state": 13, "params": 17, "ms": 11, "MB": 10}
"""The columns of the table, and how wide each is beside the others; one that is empty is left out."""

TABLE = 4.5
"""Inches of a figure that has room for the table."""


@dataclass(frozen=True)
class StripRow:
    """A model, its window, and the cells of its line in the table."""

    label: str
    look: Look
    window: Window
    words: Mapping[str, str]


@dataclass(frozen=True)
class Strip:
    """What the figure shows, in the order of the study."""

    title: str
    rows: tuple[StripRow, ...]

    @property
    def heads(self) -> list[str]:
        """The columns that say something."""
        return [head for head in ROOM if any(row.words.get(head) for row in self.rows)]


def _value(runs: Runs, title: str) -> Strip:
    found = [row for row in cell_rows(runs.records, runs.labels, runs.select) if row.choice is not None]
    several = {label for label, n in Counter(row.label for row in found).items() if n > 1}
    tasks = {row.spec.task.short() for row in found}
    timed = len({machine(run) for run in runs.records if run.is_done}) == 1
    rows = [
        StripRow(name(row, row.label in several, tasks), runs.looks[row.label], row.window, words(row, timed=timed))
        for row in found
        if row.window
    ]
    return Strip(title, tuple(rows))


def name(row: CellRow, apart: bool, tasks: Collection[str]) -> str:
    """The label; where it has several cells with the sizes, and with the task where there are several of them."""
    model = row.spec.model
    task = [row.spec.task.short()] if len(tasks) > 1 else []
    return ", ".join([row.label, *task, f"{model.n_layers} x {model.d_model}"]) if apart else row.label


def words(row: CellRow, *, timed: bool) -> dict[str, str]:
    """Window, accuracy at the best rate and its seeds, steps until solved, sizes, time: the table's line of a model."""
    assert row.window is not None
    assert row.choice is not None
    width = row.window.width
    return {
        "decades (90 %)": "none" if width is None else str(width),
        "accuracy": f"{row.choice.mean:.1%}",
        "seeds": str(len(row.choice.seeds)),
        "steps": "-" if row.steps is None else f"{row.steps:,.0f}",
        "state": "?" if row.state_size is None else f"{row.state_size:,}",
        "params": "" if row.n_params is None else f"{row.n_params / 1000:.0f}k",
        "ms": f"{row.milliseconds:.1f}" if timed and row.milliseconds else "",
    }


def draw_windows(value: Strip, axes: Axes) -> None:
    """A bar a model."""
    axes.set_title(value.title, loc="left")
    draw_rows({row.label: (row.window, row.look) for row in value.rows}, axes)


def draw_table(value: Strip, axes: Axes) -> None:
    """A line a model, beside its bar."""
    axes.set(xlim=(0, 1), ylim=(len(value.rows) - 0.4, -0.6))
    axes.set_axis_off()
    end, whole = 0, sum(ROOM[head] for head in value.heads)
    for head in value.heads:
        end += ROOM[head]
        for y, text in enumerate([head, *(row.words.get(head, "") for row in value.rows)], start=-1):
            axes.text(end / whole, y, text, va="center", ha="right", fontsize="xx-small", color=INK)


def _panels(value: Strip) -> list[Panel]:
    if not value.rows:
        return []
    inches = 0.7 + 0.16 * len(value.rows)
    bars, table = partial(draw_windows, value), partial(draw_table, value)
    return [Panel(bars, inches=inches), Panel(table, inches=inches, needs=TABLE)]


STRIP = FigureKind(
    "strip",
    value=_value,
    panels=_panels,
    charts=lambda page: [page.ablation(), page.lr()],
    chooses=True,
    crosses=True,
    across=2,
)
