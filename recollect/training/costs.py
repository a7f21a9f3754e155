"""What runs will take on this machine: memory by rule, never loading torch; time by a few measured steps of a CPU's."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from recollect.errors import BadInput
from recollect.spec import RunSpec

ACTIVATIONS = 8
"""Numbers that a layer keeps for each of its inputs until the backward pass, at the least."""

STEPS = 2
BUDGET = 3.0
"""Seconds of measuring, after which further cells are scaled from those that were measured."""
LARGEST = 2e9
"""Weights times tokens of the largest step that is measured, some tenths of a second: one with more takes part of its
batch."""


def weights(spec: RunSpec) -> int:
    """About as many as the layers of a Transformer of this shape have; embedding and head cost little."""
    return 12 * spec.model.n_layers * spec.model.d_model**2


def tokens(spec: RunSpec) -> int:
    """Tokens that a run sees."""
    return spec.train.steps * spec.train.batch_size * spec.task.length


def parameters(spec: RunSpec) -> int:
    """About as many as a model has, its embedding and head among them."""
    return weights(spec) + spec.task.vocab_size * spec.model.d_model * (1 if spec.model.tied_head else 2)


def memory(spec: RunSpec) -> int:
    """About the bytes that a run takes: weights with gradients and AdamW's two moments, activations, its fixed rows."""
    model, batch = spec.model, spec.train.batch_size * spec.task.length
    rows = 0 if spec.task.rows == "fresh" else spec.task.rows
    activations = batch * model.d_model * model.n_layers * ACTIVATIONS
    return 16 * parameters(spec) + 4 * activations + 8 * rows * spec.task.length


def check_memory(specs: Iterable[RunSpec], force: bool | None = None) -> None:
    """Refuse, before anything is written, a run that this machine cannot hold; `force` where a user may insist."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    needed = max(map(memory, specs), default=0)
    if there and needed > there and not force:
        raise BadInput(
            f"a run needs about {needed / 1e9:,.0f} GB and this machine has {there / 1e9:,.0f}; "
            f"make model, batch or rows smaller{'' if force is None else ', or insist with --force'}"
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


def costs(cells: Mapping[str, RunSpec], runs: Mapping[str, int], known: Mapping[str, float]) -> Costs:
    """The smallest and largest model, and the time of all runs from stored runs of a cell or a few measured steps.

    `runs` is cell -> how many, `known` is cell -> seconds of a finished run.
    """
    from recollect.training.model import sizes

    cell_of = {spec: cell for cell, spec in cells.items()}
    params = {cell: sizes(spec)[0] for cell, spec in cells.items()}
    work = {cell: params[cell] * tokens(spec) for cell, spec in cells.items()}
    seconds = {cell: known[cell] for cell in cells if cell in known}
    until = time.monotonic() + BUDGET
    for spec in by_turns(sorted(cells.values(), key=lambda spec: work[cell_of[spec]] / spec.train.steps)):
        cell = cell_of[spec]
        if on_this_cpu(spec) and cell not in seconds and (not seconds or time.monotonic() < until):
            seconds[cell] = time_run(spec)
    span = (min(params.values()), max(params.values()))
    if not seconds:
        return Costs(span, None, 0, len(cells))
    total = sum(runs[cell] * scaled(cell, cells, seconds, work) for cell in cells)
    return Costs(span, total, len(seconds), len(cells))


def by_turns(specs: Iterable[RunSpec]) -> list[RunSpec]:
    """The first of every mixer, then the second of every one, ...: whoever stops early has seen them all."""
    groups: dict[str, list[RunSpec]] = {}
    for spec in specs:
        groups.setdefault(spec.model.mixer_name, []).append(spec)
    return [spec for turn in zip_longest(*groups.values()) for spec in turn if spec is not None]


def scaled(cell: str, cells: Mapping[str, RunSpec], seconds: Mapping[str, float], work: Mapping[str, float]) -> float:
    """The time of a run of a cell: its own, or by its size from measured ones of its mixer, or of all without one."""
    if cell in seconds:
        return seconds[cell]
    mixer = cells[cell].model.mixer_name
    alike = [other for other in seconds if cells[other].model.mixer_name == mixer] or list(seconds)
    return work[cell] * sum(seconds[other] for other in alike) / sum(work[other] for other in alike)


def on_this_cpu(spec: RunSpec) -> bool:
    """Whether a step can be timed here whatever this machine has."""
    return spec.compute.device == "cpu" and not spec.compute.compile


def time_run(spec: RunSpec) -> float:
    """Seconds of a whole run, from a few steps and one evaluation, of so many rows as take little time.

    What the optimiser does to the weights it does once a step, however many rows there are.
    """
    from recollect.training.burden import ready

    train, task = spec.train, spec.task
    few = max(1, int(LARGEST / (weights(spec) * task.length)))
    batch, judged = min(few, train.batch_size), min(few, task.validation_rows)
    part = spec.model_copy(
        update={
            "train": train.model_copy(update={"batch_size": batch}),
            "task": task.model_copy(update={"validation_rows": judged}),
        }
    )
    trainer = ready(part)
    step, once = timed(trainer.step, STEPS), timed(lambda: trainer.optimiser.step(0.0), STEPS)
    step = once + max(0.0, step - once) * train.batch_size / batch
    evaluated = timed(trainer.point) * task.validation_rows / judged
    return (step * train.steps + evaluated * (train.steps // train.eval_every + 1)) / spec.compute.threads


def timed(work: Callable[[], object], times: int = 1) -> float:
    """Seconds of the processor that it takes, on average: what else the machine does now is not to be counted."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times
