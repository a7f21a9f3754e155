"""A step that is clean on a device, proved without one: on `meta`, with the torch forms, nothing waits or strays."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from recollect.tasks import Supply, make_task
from recollect.training import trainer as training
from recollect.training.feed import Feed, place
from recollect.training.model import build_model
from recollect.training.trainer import Score, Trainer, sums
from tests.support.launches import Launches
from tests.support.mixer_rows import ROWS, label
from tests.support.small import tiny

ON_CUDA: dict[str, Any] = {"compute__device": "cuda", "compute__kernel": "torch"}
STRINGS: dict[str, Any] = {"task__max_length": 6, "task__context": 20, "task__eval_lengths": (5,), "task__eval_rows": 2}
KINDS: dict[str, dict[str, Any]] = {"mqar": {}, "copy": STRINGS}


@pytest.fixture(autouse=True)
def fused_as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch lists the devices of its fused optimisers and of its operations on many tensors; here `meta` is one."""
    for name, kind in (("torch.optim.optimizer", "fused"), ("torch.utils._foreach_utils", "foreach")):
        monkeypatch.setattr(sys.modules[name], f"_get_{kind}_kernels_supported_devices", lambda: ["cuda", "meta"])


def on_meta(spec: RunSpec) -> Trainer:
    """A trainer of a CUDA spec whose model lies on `meta`."""
    with torch.device("meta"):
        model = build_model(spec)
    return Trainer(spec, make_task(spec.task), model)


def there_and_judged(trainer: Trainer) -> Launches:
    """Two steps and an evaluation."""
    with Launches() as seen:
        trainer.step()
        trainer.step()
        sums(trainer.model, trainer.validation, trainer.spec)
    return seen


@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_no_step_and_no_evaluation_waits_for_the_device(row: tuple[str, dict[str, Any]], task: str) -> None:
    mixer, options = row
    own = {f"model__mixer__{name}": value for name, value in options.items()}
    seen = there_and_judged(on_meta(tiny(mixer, task, **ON_CUDA, **own, **KINDS[task], train__clip=1.0)))
    assert seen.kernels["_fused_adamw_"] == 2
    assert seen.kernels["argmax"] == 3


WAITS = """
import torch
class Mine(torch.nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.proj = torch.nn.Linear(d_model, d_model)
    def forward(self, x):
        return {body}
"""
BODIES = {
    "self.proj(x) * float(x.mean())": "meta",
    "self.proj(x)[x.sum((1, 2)) > 0]": "nonzero|meta",
    "self.proj(x) + torch.ones(x.shape)": "not on the device",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_mixer_that_waits_or_strays_is_found(tmp_path: Path, body: str) -> None:
    (tmp_path / "mine.py").write_text(WAITS.format(body=body))
    trainer = on_meta(tiny(f"{tmp_path / 'mine.py'}:Mine", **ON_CUDA))
    with pytest.raises((RuntimeError, AssertionError, NotImplementedError), match=BODIES[body]):
        there_and_judged(trainer)


MOST = {("attention", 64): 150, ("attention", 512): 150, ("mamba", 64): 470, ("mamba", 512): 800}
"""Kernels of a whole step of two layers at the paper's sizes: rows, forward, backward, AdamW, sums."""


@pytest.mark.parametrize(("mixer", "length"), MOST)
def test_a_step_launches_few_kernels_whatever_the_length(mixer: str, length: int) -> None:
    sizes = {"task.length": length, "task.n_pairs": 4 if length == 64 else 64, "task.rows": "fresh"}
    short = {"task.validation_rows": 1, "train.steps": 10, "train.eval_every": 10}
    where = {"compute.device": "cuda", "compute.kernel": "torch"}
    trainer = on_meta(make_spec("mqar", mixer, {**sizes, **short, **where}, protocol="paper"))
    trainer.step()
    with Launches() as seen:
        trainer.step()
    assert seen.count <= MOST[mixer, length]


def test_a_step_copies_fresh_rows_or_only_the_numbers_of_fixed_ones() -> None:
    for rows, copied in (("fresh", [(8, 8), (8, 2), (8, 2)]), (50, [(8,)])):
        trainer = on_meta(tiny(task__rows=rows, **ON_CUDA))
        with Launches() as seen:
            trainer.step()
        assert seen.copies == copied


def test_a_feed_gives_the_rows_of_its_supply_in_any_order() -> None:
    cpu, meta = torch.device("cpu"), torch.device("meta")
    for rows in ("fresh", 50):
        spec = tiny(task="copy", task__rows=rows, **STRINGS)
        supply = Supply(make_task(spec.task), spec.seed, 8)
        feed, ahead = Feed(supply, cpu), Feed(supply, meta)
        if supply.fixed is not None:
            feed.resident = place(supply.fixed, cpu)[:4]
        for step in (0, 1, 2, 6, 7, 3):
            ours, theirs = feed.rows(step), place(supply.batch(step), cpu)
            assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
            assert ours[4:] == ahead.rows(step)[4:]
            if supply.fixed is None:
                assert np.array_equal(ahead._drawn(step).tokens, supply.batch(step).tokens)


def test_a_device_is_asked_at_evaluations_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    trainer = on_meta(tiny(**ON_CUDA))
    monkeypatch.setattr(training, "score", lambda *_: Score(1.0, 0.5, None))
    monkeypatch.setattr(trainer, "settle", lambda: asked.append(trainer.progress.step))
    assert sum(point is not None for point in trainer.advance()) == 4
    assert asked == [4, 8, 12]
