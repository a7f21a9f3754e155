"""What a training step costs on this machine: its time, and what it keeps in memory for the backward pass."""

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from recollect.spec import RunSpec
from recollect.tasks import make_task
from recollect.training.execute import initial_model, prepare
from recollect.training.trainer import Trainer

TURNS, STEPS = 5, 4
"""Times that every model has its turn, and the steps of a turn: whatever disturbs the machine disturbs all of them."""


@dataclass(frozen=True)
class Burden:
    """Milliseconds of a step (the median turn), and the bytes of the tensors that its backward pass needs."""

    milliseconds: float
    kept: int


def burdens(specs: Mapping[str, RunSpec]) -> dict[str, Burden]:
    """Those of several models, measured by turns, by the same labels."""
    trainers = {label: ready(spec) for label, spec in specs.items()}
    kept = {label: kept_bytes(trainer) for label, trainer in trainers.items()}
    times: dict[str, list[float]] = {label: [] for label in specs}
    for _ in range(TURNS):
        for label, trainer in trainers.items():
            start = time.perf_counter()
            for _ in range(STEPS):
                trainer.step()
            times[label].append(1e3 * (time.perf_counter() - start) / STEPS)
    return {label: Burden(statistics.median(times[label]), kept[label]) for label in specs}


def ready(spec: RunSpec) -> Trainer:
    """A trainer that has made its first step, on fresh rows."""
    spec = spec.model_copy(update={"task": spec.task.model_copy(update={"rows": "fresh"})})
    prepare(spec)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    trainer.step()
    return trainer


def kept_bytes(trainer: Trainer) -> int:
    """Each memory once, however many views of it are kept, and no parameters."""
    own = {parameter.untyped_storage().data_ptr() for parameter in trainer.model.parameters()}
    found: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        trainer.step()
    return sum(found.values())
