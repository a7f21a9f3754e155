"""What a sweep will take: parameters, and seconds from stored runs of the same cell or from a few measured steps."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.execute import initial_model, prepare
from recollect.model import measure
from recollect.spec import RunSpec
from recollect.tasks import make_task
from recollect.train import Trainer

STEPS = 3
BUDGET = 20.0
"""Seconds of measuring, after which further cells are scaled from those that were measured."""


@dataclass(frozen=True)
class Estimate:
    """Seconds are of one worker, every run to its budget; `measured` of `cells` cells stand on measurements."""

    n_params: tuple[int, int]
    seconds: float
    measured: int
    cells: int


def estimate(specs: Sequence[RunSpec], known: Mapping[str, float]) -> Estimate:
    """The smallest and largest model, and the time of all runs; `known` is cell -> seconds of a finished run."""
    cells: dict[str, list[RunSpec]] = {}
    for spec in specs:
        cells.setdefault(spec.cell, []).append(spec)
    sizes = {cell: measure(runs[0])[0] for cell, runs in cells.items()}
    seconds = {cell: known[cell] for cell in cells if cell in known}
    until = time.monotonic() + BUDGET
    for cell, runs in cells.items():
        if cell not in seconds and (not seconds or time.monotonic() < until):
            seconds[cell] = time_run(runs[0])
    work = {cell: sizes[cell] * tokens(runs[0]) for cell, runs in cells.items()}
    pace = sum(seconds.values()) / sum(work[cell] for cell in seconds)
    total = sum(seconds.get(cell, pace * work[cell]) * len(runs) for cell, runs in cells.items())
    return Estimate((min(sizes.values()), max(sizes.values())), total, len(seconds), len(cells))


def tokens(spec: RunSpec) -> int:
    """Tokens that a run sees."""
    return spec.train.steps * spec.train.batch_size * spec.task.length


def time_run(spec: RunSpec) -> float:
    """Seconds of a whole run, from a few steps and one evaluation."""
    prepare(spec)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    trainer.step()
    start = time.perf_counter()
    for _ in range(STEPS):
        trainer.step()
    stepped = time.perf_counter()
    trainer.measure()
    evaluated = time.perf_counter()
    train = spec.train
    return (stepped - start) / STEPS * train.steps + (evaluated - stepped) * (train.steps // train.eval_every + 1)
