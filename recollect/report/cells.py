"""The cells of a set of runs, each at its best learning rate: what tables and several figures rest on."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recollect.spec import RunSpec
from recollect.spec.compose import flatten
from recollect.store import Record
from recollect.window import Window
from recollect.window.select import Choice, Select, by_cell, choose, finished, window_of

OWN = ("train.lr", "seed")
"""Fields in which the runs of one cell differ."""

FEWEST_RATES = 3
"""Learning rates below which a cell has no window worth telling."""


@dataclass(frozen=True)
class CellRow:
    """One cell; `choice` is None where no run is finished."""

    cell: str
    label: str
    mixer: str
    spec: RunSpec
    n_runs: int
    done: list[Record]
    n_params: int | None
    state_size: int | None
    floors: dict[str, float]
    choice: Choice | None

    @cached_property
    def window(self) -> Window | None:
        """None where too few learning rates are finished."""
        tested = {record.spec.train.lr for record in self.done}
        return window_of(self.done) if len(tested) >= FEWEST_RATES else None

    @property
    def decades(self) -> float | None:
        """The width of the window; 0 where nothing succeeds."""
        return None if self.window is None else 0.0 if self.window.width is None else self.window.width.value

    @property
    def steps(self) -> float | None:
        """The median of the steps until it was solved, at the chosen learning rate."""
        at_best = [run for run in self.done if self.choice and run.spec.train.lr == self.choice.lr]
        solved = [taken(run) for run in at_best if run.outcome == "solved"]
        return statistics.median(solved) if solved else None

    @property
    def milliseconds(self) -> float | None:
        """The least time of a step with all that belongs to it, as other work on a machine only adds to it.

        None where different machines trained its runs.
        """
        times = [1e3 * run.seconds / taken(run) for run in self.done if run.seconds and taken(run)]
        return min(times) if times and len({machine(run) for run in self.done}) == 1 else None


def taken(run: Record) -> int:
    """The steps that a run took."""
    return int((run.result or {}).get("steps", 0))


def machine(run: Record) -> tuple[object, ...]:
    """Who trained it: times of different machines are not compared."""
    return tuple(run.provenance.get(key) for key in ("host", "processor", "device"))


@dataclass(frozen=True)
class CellsFigure:
    """What a figure of cells shows: those with a finished run, each at its best learning rate."""

    title: str
    note: str
    rows: tuple[CellRow, ...]
    floors: dict[str, float]


def cell_rows(
    records: Sequence[Record], labels: Mapping[str, str] | None = None, select: Select = "validation"
) -> list[CellRow]:
    """A row per cell, in the order of the records; `labels` names runs (a study's labels), else their options do."""
    cells = by_cell(records)
    names = cell_names({cell: found[0].spec for cell, found in cells.items()})
    given = labels or {}
    return [_row(given.get(found[0].id, names[cell]), found, select) for cell, found in cells.items()]


def named(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """Every cell of some runs under a name of its own: its mixer, and whatever else tells it from the others."""
    cells = by_cell(records)
    names = cell_names({cell: found[0].spec for cell, found in cells.items()})
    sizes = {cell: _sizes(found[0].spec)[1:] for cell, found in cells.items()}
    differs = [len(set(column)) > 1 for column in zip(*sizes.values(), strict=True)]
    words = ("{}", "d={}", "{} layers")
    return [
        (
            ", ".join(
                [names[cell], *(w.format(x) for w, x, shown in zip(words, sizes[cell], differs, strict=True) if shown)]
            ),
            found,
        )
        for cell, found in cells.items()
    ]


def _row(label: str, records: Sequence[Record], select: Select) -> CellRow:
    done, spec = finished(records), records[0].spec
    result = (done[0].result if done else None) or {}
    return CellRow(
        cell=records[0].cell,
        label=label,
        mixer=spec.model.mixer_name,
        spec=spec,
        n_runs=len(records),
        done=done,
        n_params=result.get("n_params"),
        state_size=result.get("state_size"),
        floors=result.get("floors", {}),
        choice=choose(records, select),
    )


def cell_names(specs: Mapping[str, RunSpec]) -> dict[str, str]:
    """Cell -> its mixer, and the fields in which it differs from other cells of the same mixer and sizes."""
    flat = {cell: flatten(spec.model_dump(mode="json")) for cell, spec in specs.items()}
    values: dict[tuple[str, ...], set[str]] = {}
    for cell, spec in specs.items():
        for key, value in flat[cell].items():
            values.setdefault((*_sizes(spec), key), set()).add(str(value))
    return {cell: _name(spec, flat[cell], values) for cell, spec in specs.items()}


def _name(spec: RunSpec, fields: Mapping[str, Any], values: Mapping[tuple[str, ...], set[str]]) -> str:
    differing = [key for key in fields if key not in OWN and len(values[(*_sizes(spec), key)]) > 1]
    return ", ".join([spec.model.mixer_name, *(f"{key.rpartition('.')[2]}={fields[key]}" for key in differing)])


def _sizes(spec: RunSpec) -> tuple[str, ...]:
    return spec.model.mixer_name, spec.task.short(), str(spec.model.d_model), str(spec.model.n_layers)
