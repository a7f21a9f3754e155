"""Runs that nobody trained: stores full of invented results, for reports."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.spec import RunSpec
from recollect.store import Record, Store
from tests.support.small import tiny

MIXERS = ("attention", "mamba", "hyena", "mamba2", "deltanet")
LRS = tuple(10 ** (-4 + i / 4) for i in range(10))


def curve_of(end: float, points: int, steps: int) -> list[float]:
    """A rise to its end value."""
    return [round(end / (1 + math.exp(6 - 12 * i / max(1, points - 1))), 4) for i in range(points)]


def result_of(spec: RunSpec, accuracy: float, outcome: str, points: int = 4) -> dict[str, Any]:
    """What a finished run hands over."""
    steps = [round(i * spec.train.steps / max(1, points - 1)) for i in range(points)]
    rising, loss = curve_of(accuracy, points, spec.train.steps), None if outcome == "diverged" else 1 - accuracy
    width = spec.model.d_model
    return {
        "outcome": outcome,
        "stopped": "budget",
        "steps": spec.train.steps,
        "validation_loss": loss,
        "validation_accuracy": accuracy,
        "test_loss": loss,
        "test_accuracy": accuracy,
        "n_params": spec.model.n_layers * width * width * 4 + 100 * width,
        "state_size": 2 * width * spec.task.length,
        "floors": {"1/K": 0.125, "position only": 0.25},
        "curves": {
            "step": steps,
            "train_loss": [1 - value for value in rising],
            "train_accuracy": rising,
            "validation_loss": [1 - value for value in rising],
            "validation_accuracy": rising,
        },
    }


def behaviour(lr: float, seed: int) -> tuple[float, str]:
    """Solved in a window of two decades, guessing below it, diverged above."""
    x = math.log10(lr) + 0.02 * (seed % 3)
    if x > -1.95:
        return 0.02, "diverged"
    return (0.995, "solved") if x > -3.4 else (0.26, "guessing")


def record_of(spec: RunSpec, accuracy: float, outcome: str) -> Record:
    """A finished run."""
    result = result_of(spec, accuracy, outcome)
    return Record(spec.id, spec.cell, spec, "done", outcome, 1, result, None, {"host": "here"}, 1.5)


def records_of(
    mixer: str = "attention", lrs: Sequence[float] = LRS, seeds: Sequence[int] = (1, 2, 3), **fields: Any
) -> list[Record]:
    """The runs of one cell over learning rates and seeds."""
    specs = [tiny(mixer, train__lr=lr, seed=seed, **fields) for lr in lrs for seed in seeds]
    return [record_of(spec, *behaviour(spec.train.lr, spec.seed)) for spec in specs]


def thousands(depths: Sequence[int] = (1,)) -> list[Record]:
    """3,000 finished runs of 50 points in 100 cells, for every depth."""
    fields: dict[str, Any] = {"task__vocab_size": 200, "train__steps": 2000}
    cells = itertools.product(depths, (8, 16, 32, 64), (8, 16, 32, 64, 128), MIXERS)
    made = [
        tiny(mixer, model__d_model=width, task__length=length, model__n_layers=depth, **fields)
        for depth, width, length, mixer in cells
    ]
    runs = [(spec.at(lr, seed), *behaviour(lr, seed)) for spec in made for lr in LRS for seed in (1, 2, 3)]
    return [replace(record_of(*run), result=result_of(*run, points=50)) for run in runs]


def fill(path: Path, records: Iterable[Record], study: str = "", scale: str = "laptop") -> Path:
    """A store with these runs."""
    store, kept = Store(path, create=True), list(records)
    store.add([record.spec for record in kept])
    for record in kept:
        if record.result is not None:
            store.start(record.id, record.provenance)
            store.finish(record.id, record.result, record.seconds or 0.0)
    if study:
        store.link(study, scale, {record.id: record.spec.model.mixers[0].name for record in kept})
    store.close()
    return path
