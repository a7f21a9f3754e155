"""The learning rate of a cell is chosen on validation rows, its accuracy is reported on test rows."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from recollect.spec.protocols import ZOOLOGY
from recollect.store import ACCURACY, WINDOW, Record
from recollect.window import THRESHOLD, Reading, Window, measure, readings
from recollect.window.reading import grouped

Select = Literal["validation", "test"]
"""The rows that choose; `test` is the habit of choosing on the reported set, and labelled wherever it is used."""

Labelled = Sequence[tuple[str, Record]]
"""Runs under the names that a study, a figure or a table gives them."""


@dataclass(frozen=True)
class Choice:
    """A cell at its best learning rate: the test accuracy of every seed there."""

    cell: str
    lr: float
    select: Select
    seeds: tuple[int, ...]
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.accuracies)

    @property
    def sd(self) -> float | None:
        """Standard deviation over the seeds; None for one seed."""
        return statistics.stdev(self.accuracies) if len(self.accuracies) > 1 else None


def how_chosen(select: Select, records: Iterable[Record] = ()) -> str:
    """The small print where a choice was not made on validation rows, empty for the rule.

    A search chooses on validation rows, whatever is asked: nothing is said of cells whose rate it found.
    """
    searched = [is_searched(runs) for runs in by_cell(records).values()]
    if select == "validation" or (searched and all(searched)):
        return ""
    return f"lr chosen on the {select} rows" + ", but where it was searched" * any(searched)


def is_searched(records: Iterable[Record]) -> bool:
    """Whether a search chose the learning rate of a cell."""
    return any(record.tells == ACCURACY for record in records)


def accuracy(record: Record, rows: Select = "test") -> float:
    """The last accuracy of a finished run; 0 where it was not finite."""
    assert record.result is not None
    return float(record.result[f"{rows}_accuracy"] or 0.0)


def finished(records: Iterable[Record]) -> list[Record]:
    """The runs that have a result; a diverged run has one."""
    return [record for record in records if record.is_done]


def for_accuracy(records: Sequence[Record]) -> list[Record]:
    """The runs that may tell an accuracy: all but those that a search chose, as long as there are others."""
    return [record for record in records if record.tells != WINDOW] or list(records)


def for_window(records: Sequence[Record]) -> list[Record]:
    """The runs that may tell a window: all but the seeds added at the best rate, as long as there are others."""
    return [record for record in records if record.tells != ACCURACY] or list(records)


def by_cell(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Cell -> its records, in the order given."""
    return grouped((record.cell, record) for record in records)


def by_lr(records: Iterable[Record]) -> dict[float, list[Record]]:
    """Learning rate -> its finished runs, lowest first; seeds in order."""
    ordered = sorted(finished(records), key=lambda record: (record.spec.train.lr, record.spec.seed))
    return grouped((record.spec.train.lr, record) for record in ordered)


def by_label(labelled: Labelled) -> dict[str, list[Record]]:
    """Label -> its records, in the order given."""
    return grouped(labelled)


def choose(records: Sequence[Record], select: Select = "validation") -> Choice | None:
    """One cell at the learning rate with the best mean accuracy over seeds; the middle one among equals.

    Rates are compared over the seeds that all of them have, if there are some: one lucky seed does not beat the mean of
    three. Where a search chose the rate, the runs that were added there for the accuracy tell it alone. None where no
    run is finished.
    """
    rates = by_lr(for_accuracy(finished(records)))
    if not rates:
        return None
    shared = set.intersection(*({run.spec.seed for run in runs} for runs in rates.values()))
    alike = {lr: [run for run in runs if not shared or run.spec.seed in shared] for lr, runs in rates.items()}
    means = {lr: statistics.fmean(accuracy(run, select) for run in runs) for lr, runs in alike.items()}
    best = [lr for lr, mean in means.items() if mean == max(means.values())]
    lr = best[(len(best) - 1) // 2]
    runs = rates[lr]
    seeds, accuracies = tuple(run.spec.seed for run in runs), tuple(accuracy(run) for run in runs)
    rows: Select = "validation" if is_searched(runs) else select
    return Choice(runs[0].cell, lr, rows, seeds, accuracies)


def zoologys(records: Sequence[Record]) -> list[Record]:
    """The runs at Zoology's four learning rates, what its grid would have found; none where one is missing."""
    found = [record for record in records if record.spec.train.lr in ZOOLOGY.lrs]
    return found if {record.spec.train.lr for record in found} == set(ZOOLOGY.lrs) else []


def narrowest(records: Sequence[Record], select: Select = "validation") -> list[Record]:
    """The runs of the narrowest cell that recalls, else of the widest, at its best learning rate.

    Whether it recalls is asked of the rows that choose.
    """
    cells = sorted(by_cell(finished(records)).values(), key=lambda runs: runs[0].spec.model.d_model)
    choices = [(choice, runs) for runs in cells if (choice := choose(runs, select)) is not None]
    chosen = [[run for run in for_accuracy(runs) if run.spec.train.lr == choice.lr] for choice, runs in choices]
    recalling = [runs for runs in chosen if statistics.fmean(accuracy(run, select) for run in runs) >= THRESHOLD]
    return next(iter(recalling or chosen[::-1]), [])


def window_of(records: Sequence[Record], threshold: float = THRESHOLD) -> Window | None:
    """The window of one cell's runs; None where none is finished."""
    found = tuple(readings(for_window(records), records[0].cell)) if records else ()
    return _measured(found, records[0].spec.train.steps, threshold) if found else None


@lru_cache(maxsize=4096)
def _measured(found: tuple[Reading, ...], steps: int, threshold: float) -> Window:
    """The same cell is met in figures, in tables, on the page and by claims."""
    return measure(found, steps=steps, threshold=threshold)
