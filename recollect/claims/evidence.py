"""What the store has of one study at one scale, as claims look at it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recollect.select import Choice, Select, by_cell, by_label, by_lr, finished, how_chosen, select, window_of
from recollect.spec import RunSpec
from recollect.store import Record, Store
from recollect.window import Window


class Place(NamedTuple):
    """Where two models are comparable: the same task, width and depth."""

    task: str
    length: int
    d_model: int
    n_layers: int

    def __str__(self) -> str:
        return f"{self.task} d={self.d_model} {self.n_layers} layer{'s' * (self.n_layers > 1)}"


class Cell(NamedTuple):
    """The runs of one model at one place."""

    spec: RunSpec
    records: list[Record]
    rows: Select

    @property
    def choice(self) -> Choice:
        """At the learning rate that the validation rows choose, or the reported ones."""
        found = select(self.records, self.rows)
        assert found is not None
        return found

    @property
    def window(self) -> Window:
        """Its learning-rate window."""
        found = window_of(self.records)
        assert found is not None
        return found

    @property
    def chosen(self) -> list[Record]:
        """The runs at the chosen learning rate, one a seed."""
        return by_lr(self.records)[self.choice.lr]

    def floor(self, name: str) -> float:
        """A floor of its task."""
        result = self.records[0].result
        assert result is not None
        return float(result["floors"][name])


@dataclass(frozen=True)
class Evidence:
    """Label -> the runs of a study at a scale, finished or not."""

    study: str
    scale: str
    runs: Mapping[str, list[Record]]
    rows: Select = "validation"

    def of(self, label: str) -> dict[Place, Cell]:
        """The finished cells of one model, in the study's order."""
        return self._cells[label]

    @cached_property
    def _cells(self) -> dict[str, dict[Place, Cell]]:
        return {
            label: dict(_placed(records, self.rows) for records in by_cell(finished(runs)).values())
            for label, runs in self.runs.items()
        }

    def progress(self, labels: Iterable[str]) -> tuple[int, int]:
        """Done and all runs of these models; nothing where one of them has no runs at this scale."""
        if any(label not in self.runs for label in labels):
            return 0, 0
        runs = [run for label in labels for run in self.runs[label]]
        return len(finished(runs)), len(runs)

    def seeds(self, labels: Iterable[str]) -> int:
        """The fewest seeds at the chosen learning rate among the cells of these models."""
        return min(len(cell.choice.seeds) for label in labels for cell in self.of(label).values())

    def budget(self) -> str:
        """What a verdict is bound to besides the scale's name."""
        specs = [run.spec for runs in self.runs.values() for run in runs]
        tasks = list(dict.fromkeys(spec.task.short() for spec in specs))
        steps = sorted({spec.train.steps for spec in specs})
        span = f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}" if steps else "no"
        parts = (", ".join(tasks), f"{span} steps", how_chosen(self.rows))
        return "; ".join(filter(None, parts)) if specs else ""


def _placed(records: list[Record], rows: Select) -> tuple[Place, Cell]:
    spec = records[0].spec
    place = Place(spec.task.short(), spec.task.length, spec.model.d_model, spec.model.n_layers)
    return place, Cell(spec, records, rows)


def gather(store: Store, study: str, scale: str, rows: Select = "validation", *, curves: bool = False) -> Evidence:
    """The evidence of a study at a scale; curves are read only where a claim looks at them."""
    return Evidence(study, scale, by_label(store.labelled(study, scale, curves=curves)), rows)
