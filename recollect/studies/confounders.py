"""Which switch of the protocol that nobody reports moves whose window? One factor at a time."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study, Variant

EPOCH = 196
"""The paper's epoch in steps, 100,000 rows in batches of 512: fresh rows know no epochs."""

SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "as it is": {},
    "init gpt2": {"model.init": "gpt2"},
    "init zoology-legacy": {"model.init": "zoology-legacy"},
    "decay on matrices": {"train.decay_scope": "matrices"},
    "no decay": {"train.weight_decay": 0.0},
    "with MLP": {"model.block": "mixer+mlp"},
    "without MLP": {"model.block": "mixer"},
    "dropout 0.1": {"model.dropout": 0.1},
    "vocabulary split": {"task.vocabulary": "split"},
    "vocabulary shared": {"task.vocabulary": "shared"},
    "random filler": {"task.filler": "random"},
    "fresh rows": {"task.rows": "fresh"},
    "no warm-up": {"train.warmup": 0.0},
    "constant rate": {"train.schedule": "constant"},
    "clip at 1": {"train.clip": 1.0},
    "no clipping": {"train.clip": None},
    "beta2 0.95": {"train.beta2": 0.95},
    "2 heads": {"model.mixer.n_heads": 2},
}

STUDY = Study(
    name="confounders",
    title="Windows under one changed switch each",
    question=__doc__ or "",
    figure="table",
    models={
        f"{mixer}, {name}": Variant(mixer, fields)
        for mixer in ("attention", "mamba")
        for name, fields in SWITCHES.items()
        if not (mixer == "mamba" and name == "2 heads")
    },
    scales={
        "smoke": replace(SMOKE, lrs=(1e-2,)),
        "laptop": replace(
            LAPTOP,
            note="from the laptop protocol, not the paper's: V=64 L=32 K=4, two layers of attention and one of Mamba; "
            "one seed, two learning rates, 1,500 steps",
            lrs=rates(-2.5, -2, 2),
            seeds=LAPTOP.seeds[:1],
            fields={"train.steps": 1500},
            own={f"mamba, {name}": {"model.n_layers": 1} for name in SWITCHES},
        ),
        "desk": replace(
            DESK,
            lrs=rates(-3, -2, 1),
            seeds=DESK.seeds[:1],
            fields={"train.steps": 8 * EPOCH, "train.eval_every": EPOCH, "train.stop_accuracy": 0.99},
            note=f"{DESK.note}; one seed",
        ),
        "paper": replace(
            PAPER,
            settings=PAIRS[:1],
            shapes=((64, 2), (128, 2)),
            fields={"train.steps": 50 * EPOCH, "train.eval_every": EPOCH},
        ),
    },
    minutes={"laptop": 15, "desk": 600},
)
