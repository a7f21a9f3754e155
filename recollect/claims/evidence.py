"""What the store has of one study at one scale, as claims look at it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from recollect.spec import RunSpec
from recollect.store import ACCURACY, WINDOW, Record
from recollect.studies import STUDIES, Case
from recollect.window import TunedCell, Window
from recollect.window.compared import ComparedCell
from recollect.window.reading import grouped
from recollect.window.select import (
    Choice,
    Select,
    by_cell,
    by_lr,
    choose,
    finished,
    for_accuracy,
    how_chosen,
    window_of,
)
from recollect.window.tuned import LONG, USUAL


class Sizes(NamedTuple):
    """Where two models are comparable: the same task, width and depth."""

    task: str
    length: int
    d_model: int
    n_layers: int

    @property
    def words(self) -> tuple[str, str, str]:
        """Each of them, as text."""
        return self.task, f"d={self.d_model}", f"{self.n_layers} layer{'s' * (self.n_layers > 1)}"


class Cell(NamedTuple):
    """The runs of one model at one place."""

    records: list[Record]
    select: Select

    @property
    def choice(self) -> Choice:
        """At the learning rate that the validation rows choose, or the reported ones."""
        found = choose(self.records, self.select)
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
        """The runs at the chosen learning rate that tell its accuracy, one a seed."""
        return by_lr(for_accuracy(self.records))[self.choice.lr]

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
    select: Select = "validation"

    def of(self, label: str) -> dict[Sizes, Cell]:
        """The finished cells of one model, in the study's order."""
        return self._cells[label]

    @cached_property
    def _cells(self) -> dict[str, dict[Sizes, Cell]]:
        return {
            label: {_place(found[0].spec): Cell(found, self.select) for found in by_cell(finished(runs)).values()}
            for label, runs in self.runs.items()
        }

    def told_by(self) -> list[int]:
        """The seeds that tell accuracies; those of a search tell of its window, one at a rate."""
        return sorted({run.spec.seed for runs in self.runs.values() for run in runs if run.tells != WINDOW})

    def without(self, seed: int) -> "Evidence":
        """The same without one of those."""
        kept = {
            label: [run for run in runs if run.spec.seed != seed or run.tells == WINDOW]
            for label, runs in self.runs.items()
        }
        return replace(self, runs=kept)

    def is_mixed(self, label: str) -> bool:
        """Whether a model has several cells at one place, which differ in what nothing here tells, such as a budget."""
        return len(by_cell(finished(self.runs[label]))) > len(self.of(label))

    @cached_property
    def models(self) -> frozenset[str]:
        """The labels of the study at this scale, with runs or without; those that a user left out are among them."""
        study, scale = STUDIES[self.study], self.scale.partition(" (")[0]
        return frozenset(case.label for case in study.cells(scale)) if scale in study.scales else frozenset(self.runs)

    def progress(self, labels: Iterable[str]) -> tuple[int, int]:
        """Done and all runs of these models."""
        runs = [run for label in labels for run in self.runs[label]]
        return len(finished(runs)), len(runs)

    def cells(self, labels: Collection[str]) -> tuple[int, int]:
        """Cells of these models that have all their learning rates, and all that the study wants at this scale.

        A search has all once it is over: its edges are clear, or it had its usual number of runs; one that is compared
        with another, and may be the wider one, had the longer search's.
        A store that was copied without what is not finished yet knows nothing of the rest. Of a changed study nobody
        knows what it wants, but that its searches come to an end.
        """
        study = STUDIES[self.study]
        if self.scale not in study.scales:
            there = [runs for label in labels for runs in by_cell(finished(self.runs[label])).values()]
            return sum(map(self._is_over, there)), len(there)
        wanted = [case for case in study.cells(self.scale) if case.label in labels]
        return sum(map(self._is_complete, wanted)), len(wanted)

    def _is_over(self, done: list[Record]) -> bool:
        """Whether the search of a changed study's cell is over, if it was searched at all."""
        scale = STUDIES[self.study].scales.get(self.scale.partition(" (")[0])
        seeds = {run.spec.seed for run in done if run.tells == ACCURACY}
        if scale is None or not any(run.tells == WINDOW for run in done):
            return True
        rates = {run.spec.train.lr for run in done}
        search = TunedCell.of(done[0].spec, sorted(seeds), scale.span, USUAL)
        return len(rates) >= USUAL or search.is_searched(done, [])

    def _is_complete(self, case: Case) -> bool:
        study, done = STUDIES[self.study], self._done.get(case.spec.cell, [])
        scale = study.scales[self.scale]
        rates, is_search = {run.spec.train.lr for run in done}, scale.design == "window"
        if rates >= set(study.lrs(case.label, scale)):
            return True
        if not is_search:
            return False
        if case.against:
            both = [*done, *self._done.get(case.against.cell, [])]
            compared = ComparedCell.of(case.spec, case.against, scale.seeds, scale.span)
            is_over = compared.reference.is_searched(both, []) and not compared.next(both, [])
            return len(rates) >= LONG or is_over
        return len(rates) >= USUAL or TunedCell.of(case.spec, scale.seeds, scale.span, USUAL).is_searched(done, [])

    @cached_property
    def _done(self) -> dict[str, list[Record]]:
        """Cell -> its finished runs."""
        return grouped((run.cell, run) for runs in self.runs.values() for run in finished(runs))

    def seeds(self, labels: Iterable[str]) -> int:
        """The fewest seeds at the chosen learning rate among the cells of these models; a search's runs are none."""
        cells = [cell for label in labels for cell in self.of(label).values()]
        return min(sum(run.tells != WINDOW for run in cell.chosen) for cell in cells)

    def name(self, label: str, place: Sizes) -> str:
        """A model, and of its place what differs between runs and the label does not say; the rest is in the budget."""
        models = STUDIES[self.study].models
        said = models[label].fields if label in models else {}
        sizes = {"task": place.task, "model.d_model": place.d_model, "model.n_layers": place.n_layers}
        parts = zip(place.words, self._words, sizes.items(), strict=True)
        told = (words for words, found, (name, size) in parts if len(found) > 1 and said.get(name) != size)
        return ", ".join([label, *told])

    def budget(self) -> str:
        """What a verdict is bound to besides the scale's name."""
        records = [run for runs in self.runs.values() for run in runs]
        specs = [run.spec for run in records]
        tasks, *sizes = self._words
        shared = [one for words in sizes if len(words) == 1 for one in words]
        steps = sorted({spec.train.steps for spec in specs})
        span = f"{steps[0]:,}" if len(steps) == 1 else f"{steps[0]:,} to {steps[-1]:,}" if steps else "no"
        parts = (", ".join([*tasks, *shared]), f"{span} steps", how_chosen(self.select, records))
        return "; ".join(filter(None, parts)) if specs else ""

    @cached_property
    def _words(self) -> list[list[str]]:
        """The different tasks, widths and depths of all runs."""
        words = [_place(run.spec).words for runs in self.runs.values() for run in runs]
        return [list(dict.fromkeys(column)) for column in zip(*words, strict=True)] or [[], [], []]


def _place(spec: RunSpec) -> Sizes:
    return Sizes(spec.task.short(), spec.task.length, spec.model.d_model, spec.model.n_layers)
