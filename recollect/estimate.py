"""What a sweep will take: parameters, and seconds from stored runs of the same cell or from a few measured steps."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.execute import initial_model, prepare
from recollect.gpu import tokens
from recollect.model import measure
from recollect.spec import RunSpec
from recollect.tasks import make_task
from recollect.train import Trainer

STEPS = 3
BUDGET = 20.0
"""Seconds of measuring, cheapest cell first, after which further cells are scaled from those that were measured."""
LARGEST = 1e11
"""Parameters times tokens of the largest step that is measured: some ten seconds."""


@dataclass(frozen=True)
class Estimate:
    """Seconds are of one worker, every run to its budget; `measured` of `cells` cells stand on measurements.

    None where no cell is small enough to be measured here.
    """

    n_params: tuple[int, int]
    seconds: float | None
    measured: int
    cells: int


def estimate(specs: Sequence[RunSpec], known: Mapping[str, float]) -> Estimate:
    """The smallest and largest model, and the time of all runs; `known` is cell -> seconds of a finished run."""
    cells: dict[str, list[RunSpec]] = {}
    for spec in specs:
        cells.setdefault(spec.cell, []).append(spec)
    sizes = {cell: measure(runs[0])[0] for cell, runs in cells.items()}
    work = {cell: sizes[cell] * tokens(runs[0]) for cell, runs in cells.items()}
    seconds = {cell: known[cell] for cell in cells if cell in known}
    until = time.monotonic() + BUDGET
    step = {cell: work[cell] / runs[0].train.steps for cell, runs in cells.items()}
    for cell in sorted(cells, key=step.__getitem__):
        if cell not in seconds and step[cell] <= LARGEST and (not seconds or time.monotonic() < until):
            seconds[cell] = time_run(cells[cell][0])
    span = (min(sizes.values()), max(sizes.values()))
    if not seconds:
        return Estimate(span, None, 0, len(cells))
    pace = sum(seconds.values()) / sum(work[cell] for cell in seconds)
    total = sum(seconds.get(cell, pace * work[cell]) * len(runs) for cell, runs in cells.items())
    return Estimate(span, total, len(seconds), len(cells))


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
