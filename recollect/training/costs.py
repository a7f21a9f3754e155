"""What runs will take on this machine: memory by rule, never loading torch; time by a few measured steps of a CPU's."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recollect.errors import BadInput
from recollect.spec import RunSpec

ACTIVATIONS = 8
"""Numbers that a layer keeps for each of its inputs until the backward pass, at the least."""

STEPS = 3
BUDGET = 20.0
"""Seconds of measuring, cheapest cell first, after which further cells are scaled from those that were measured."""
LARGEST = 1e11
"""Parameters times tokens of the largest step that is measured: some ten seconds."""


def weights(spec: RunSpec) -> int:
    """About as many as the layers of a Transformer of this shape have; embedding and head cost little."""
    return 12 * spec.model.n_layers * spec.model.d_model**2


def tokens(spec: RunSpec) -> int:
    """Tokens that a run sees."""
    return spec.train.steps * spec.train.batch_size * spec.task.length


def memory(spec: RunSpec) -> int:
    """About the bytes that a run takes: weights with gradients and AdamW's two moments, activations, its fixed rows."""
    model, batch = spec.model, spec.train.batch_size * spec.task.length
    params = weights(spec) + spec.task.vocab_size * model.d_model * (1 if model.tied_head else 2)
    rows = 0 if spec.task.rows == "fresh" else spec.task.rows
    return 16 * params + 4 * batch * model.d_model * model.n_layers * ACTIVATIONS + 8 * rows * spec.task.length


def check_memory(specs: Iterable[RunSpec], force: bool) -> None:
    """Refuse, before anything is written, a run that this machine cannot hold."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    needed = max(map(memory, specs), default=0)
    if there and needed > there and not force:
        raise BadInput(
            f"a run needs about {needed / 1e9:,.0f} GB and this machine has {there / 1e9:,.0f}; "
            "make model, batch or rows smaller, or insist with --force"
        )


@dataclass(frozen=True)
class Costs:
    """Seconds are of one worker, every run to its budget; `measured` of `cells` cells stand on measurements.

    None where no cell can be measured here.
    """

    n_params: tuple[int, int]
    seconds: float | None
    measured: int
    cells: int


def costs(specs: Sequence[RunSpec], known: Mapping[str, float]) -> Costs:
    """The smallest and largest model, and the time of all runs from stored runs of a cell or a few measured steps.

    `known` is cell -> seconds of a finished run.
    """
    from recollect.training.model import sizes

    cells: dict[str, list[RunSpec]] = {}
    for spec in specs:
        cells.setdefault(spec.cell, []).append(spec)
    params = {cell: sizes(runs[0])[0] for cell, runs in cells.items()}
    work = {cell: params[cell] * tokens(runs[0]) for cell, runs in cells.items()}
    seconds = {cell: known[cell] for cell in cells if cell in known}
    until = time.monotonic() + BUDGET
    step = {cell: work[cell] / runs[0].train.steps for cell, runs in cells.items()}
    measurable = [cell for cell, runs in cells.items() if on_this_cpu(runs[0]) and cell not in seconds]
    for cell in sorted(measurable, key=step.__getitem__):
        if step[cell] <= LARGEST and (not seconds or time.monotonic() < until):
            seconds[cell] = time_run(cells[cell][0])
    span = (min(params.values()), max(params.values()))
    if not seconds:
        return Costs(span, None, 0, len(cells))
    pace = sum(seconds.values()) / sum(work[cell] for cell in seconds)
    total = sum(seconds.get(cell, pace * work[cell]) * len(runs) for cell, runs in cells.items())
    return Costs(span, total, len(seconds), len(cells))


def on_this_cpu(spec: RunSpec) -> bool:
    """Whether a step can be timed here whatever this machine has."""
    return spec.compute.device == "cpu" and not spec.compute.compile


def time_run(spec: RunSpec) -> float:
    """Seconds of a whole run, from a few steps and one evaluation."""
    from recollect.tasks import make_task
    from recollect.training.execute import initial_model, prepare
    from recollect.training.trainer import Trainer

    prepare(spec)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    trainer.step()
    start = time.perf_counter()
    for _ in range(STEPS):
        trainer.step()
    stepped = time.perf_counter()
    trainer.point()
    evaluated = time.perf_counter()
    train = spec.train
    return (stepped - start) / STEPS * train.steps + (evaluated - stepped) * (train.steps // train.eval_every + 1)
