"""Specs that train in a blink."""

from typing import Any

from recollect.spec import RunSpec
from recollect.spec.compose import make_spec

TINY: dict[str, Any] = {
    "task.vocab_size": 20,
    "task.length": 8,
    "task.n_pairs": 2,
    "task.validation_rows": 40,
    "task.test_rows": 40,
    "model.d_model": 8,
    "model.n_layers": 1,
    "train.steps": 12,
    "train.batch_size": 8,
    "train.eval_every": 4,
    "train.stop_accuracy": None,
}

RECALL = ("task.vocab_size", "task.length", "task.n_pairs")


def tiny(mixer: str | list[str] = "attention", task: str = "mqar", **fields: Any) -> RunSpec:
    """A tiny run; fields with __ for the dot: train__lr=0.1."""
    given = {key.replace("__", "."): value for key, value in fields.items()}
    common = TINY if task in ("mqar", "ar") else {key: TINY[key] for key in TINY if key not in RECALL}
    if isinstance(mixer, list):
        given["model.n_layers"] = len(mixer)
    return make_spec(task, mixer, {**common, **given}, protocol="laptop-split")
