"""What a kind of figure is, and the runs that it is computed from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from matplotlib.axes import Axes

from recollect.errors import BadInput
from recollect.report.cells import cell_names
from recollect.report.note import note
from recollect.report.style import Look, looks
from recollect.store import Record
from recollect.window.reading import grouped
from recollect.window.select import Labelled, Select

if TYPE_CHECKING:  # altair is slow to import, and only the page needs it
    from recollect.report.charts import Chart, Charts

V = TypeVar("V")
MAIN, WINDOW, ENDS = "main", "window", "outcomes"
"""The name of all panels that are not extras, of the strips above them, and of how runs end."""


@dataclass(frozen=True)
class Runs:
    """Labelled runs of a figure, or of one panel; `select` are the rows that choose learning rates.

    The note is computed once, for the whole figure: its panels, its drawing and the page take it from here. `all` are
    the runs of the whole figure, for what its panels have in common, `looks` how each label is drawn in all of them.
    """

    labelled: Labelled
    all: Labelled
    looks: dict[str, Look]
    note: str
    select: Select

    @classmethod
    def of(cls, labelled: Labelled, scale: str, select: Select = "validation") -> "Runs":
        """All runs of a figure, with its small print."""
        records = [record for _, record in labelled]
        return cls(labelled, labelled, _looks(labelled), note(records, scale, select), select)

    @property
    def records(self) -> list[Record]:
        """Without their labels."""
        return [record for _, record in self.labelled]

    @property
    def labels(self) -> dict[str, str]:
        """Run -> label."""
        return {record.id: label for label, record in self.labelled}

    def some(self, labelled: Labelled) -> "Runs":
        """A part of them, in the same figure."""
        return replace(self, labelled=labelled)

    def by_size(self) -> dict[str, "Runs"]:
        """All of them; where a label has several cells, those of each task, width and depth, named by what differs.

        The name is empty where there is one group only. Cells are never pooled: those that share a label and all
        sizes are named apart.
        """
        cells = {(label, record.cell) for label, record in self.labelled}
        if len(cells) == len({label for label, _ in cells}):
            return {"": self}
        apart = _apart(self.labelled)
        whole = replace(self, all=apart, looks=_looks(apart))
        groups = grouped((_sizes(record), (label, record)) for label, record in apart)
        differs = [len(set(column)) > 1 for column in zip(*groups, strict=True)]
        return {
            ", ".join(part for part, shown in zip(sizes, differs, strict=True) if shown): whole.some(found)
            for sizes, found in sorted(groups.items(), key=lambda group: _order(group[1][0][1]))
        }


def _looks(labelled: Labelled) -> dict[str, Look]:
    return looks([(label, record.spec.model.mixer_name) for label, record in labelled])


def _apart(labelled: Labelled) -> Labelled:
    """The labels, with the options that differ where a label has several cells of the same sizes."""
    cells = grouped(((label, *_sizes(record)), record.cell) for label, record in labelled)
    names = cell_names({record.cell: record.spec for _, record in labelled})
    several = {key for key, found in cells.items() if len(set(found)) > 1}
    return [
        (f"{label}, {names[record.cell].partition(', ')[2]}" if (label, *_sizes(record)) in several else label, record)
        for label, record in labelled
    ]


def _sizes(record: Record) -> tuple[str, ...]:
    model = record.spec.model
    return record.spec.task.short(), f"d={model.d_model}", f"{model.n_layers} layer{'s' * (model.n_layers != 1)}"


def _order(record: Record) -> tuple[int, int, int]:
    return record.spec.task.length, record.spec.model.d_model, record.spec.model.n_layers


@dataclass(frozen=True)
class Strip:
    """What lies above a panel, on the same learning rates: so many thin rows, or a panel of its own."""

    draw: Callable[[Axes], None]
    draw_alone: Callable[[Axes], None]
    rows: int
    names: int  # rows of the panel of its own


@dataclass(frozen=True)
class Panel:
    """What draws on axes of its own.

    An extra is drawn only where it is asked for by its name. `inches` is its height, where that does not follow from
    the figure's width; a wide one has a row of its own; one that `aligns` lies under the same learning rates as the
    panel above it. A figure of less than `needs` inches does without it: the panel before it takes the row.
    """

    draw: Callable[[Axes], None]
    name: str = MAIN
    above: Strip | None = None
    inches: float | None = None
    is_extra: bool = False
    is_wide: bool = False
    aligns: bool = False
    needs: float = 0.0


@dataclass(frozen=True)
class FigureKind(Generic[V]):
    """A kind of figure; `recollect.report.figures` registers all of them.

    `value` is computed from runs and the title of their panel, `panels` draw it, `charts` show the same runs on the
    page. A kind that `chooses` shows cells at their best learning rate only. One that `crosses` takes all cells of a
    label together; else each task, width and depth has panels of its own. `across` are the panels in a row, where that
    does not follow from their number. `parts` are the names of its panels besides `main`.
    """

    name: str
    value: Callable[[Runs, str], V]
    panels: Callable[[V], Sequence[Panel]]
    charts: Callable[["Charts"], Sequence["Chart"]]
    chooses: bool = False
    crosses: bool = False
    across: int | None = None
    parts: tuple[str, ...] = ()

    def runs(self, labelled: Labelled, scale: str, select: Select) -> Runs:
        """The runs of a figure of this kind; the note tells how rates were chosen only where they are."""
        return Runs.of(labelled, scale, select if self.chooses else "validation")

    def drawn(self, runs: Runs) -> list[Panel]:
        """All panels of a figure."""
        parts = {"": runs} if self.crosses else runs.by_size()
        return [panel for title, part in parts.items() for panel in self.panels(self.value(part, title))]

    def check(self, panels: Sequence[str]) -> None:
        """Refuse the name of a panel that it does not have."""
        check_panels(self.name, self.parts, panels)


def check_panels(kind: str, parts: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse the name of a panel that is neither `main` nor one of these parts."""
    for name in wanted:
        if name not in (MAIN, *parts):
            have = ", ".join((MAIN, *parts))
            raise BadInput(f"--panel: a figure of kind '{kind}' has no '{name}'; it has {have}")
