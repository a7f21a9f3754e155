"""Does one attention layer recall, do two, and does a short convolution make up for the missing one?"""

from typing import Any

from recollect.compose import make_spec
from recollect.studies.study import Case, Study

MODELS: dict[str, dict[str, Any]] = {
    "attention, 2 layers": {"model.n_layers": 2},
    "attention + conv, 1 layer": {"model.n_layers": 1, "model.mixer.conv": "qkv"},
    "attention, 1 layer": {"model.n_layers": 1},
}
SEEDS = {"smoke": (42,), "laptop": (42, 123, 777)}
SMOKE: dict[str, Any] = {"train.steps": 20, "train.eval_every": 10, "task.validation_rows": 50, "task.test_rows": 50}


def cases(scale: str) -> list[Case]:
    """Three models, every seed, one learning rate."""
    common: dict[str, Any] = {"train.lr": 2e-3, "train.eval_every": 50} | (SMOKE if scale == "smoke" else {})
    return [
        Case(label, make_spec("mqar", "attention", {**common, **fields, "seed": seed}))
        for label, fields in MODELS.items()
        for seed in SEEDS[scale]
    ]


STUDY = Study(
    name="demo",
    title="One attention layer, two, and one with a short convolution",
    question=__doc__ or "",
    cases=cases,
    figure="dynamics",
    scales=("smoke", "laptop"),
)
