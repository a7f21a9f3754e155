"""Training with the fast forms is training with the loops: the losses of every step agree."""

from functools import cache
from typing import Any

import pytest

from recollect.spec import MIXERS
from recollect.tasks import make_task
from recollect.training.execute import initial_model, prepare
from recollect.training.subnormal import flushed
from recollect.training.trainer import Trainer
from tests.support.small import tiny

TOLERANCE = {5: 1e-6, 50: 5e-4}
"""By steps, relative to the loss. Single precision rounds by 6e-8, a mean by a few times that. Then it grows, as AdamW
divides by gradients that may be nearly nothing: when the last bit of every weight is turned at the start, the loops'
own losses are up to 5e-5 apart within 50 steps (RetNet); the fast forms' are up to 4e-5 from the loops'."""


@cache
def losses(mixer: str, kernel: str, steps: int) -> list[float]:
    """Of every step of a small cell: rows longer than a chunk, two layers, a rate at which the weights do move."""
    shape: dict[str, Any] = {"task__length": 12, "model__d_model": 16, "model__n_layers": 2, "train__batch_size": 4}
    if "chunk" in MIXERS[mixer].model_fields:
        shape["model__mixer__chunk"] = 8
    rate: dict[str, Any] = {"train__lr": 1e-3, "train__warmup_steps": 1, "train__steps": 50}
    spec = tiny(mixer, **shape, **rate, compute__kernel=kernel, task__validation_rows=4)
    prepare(spec)
    found = []
    with flushed(spec.compute.threads):
        trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
        for _ in range(steps):
            before = trainer.summed[0].item()
            trainer.step()
            found.append(trainer.summed[0].item() - before)
    return found


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("steps", [5, pytest.param(50, marks=pytest.mark.prove)])
def test_the_losses_of_every_step_agree_with_the_loops(mixer: str, kernel: str, steps: int) -> None:
    judge = losses(mixer, "loop", steps)
    assert len(set(judge)) == steps
    assert losses(mixer, kernel, steps) == pytest.approx(judge, rel=TOLERANCE[steps])
