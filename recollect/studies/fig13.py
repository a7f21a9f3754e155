"""Is the window set by the mixer or by the depth? Twelve layers."""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, rates, shapes
from recollect.studies.study import Study

STUDY = Study(
    name="fig13",
    title="Accuracy against learning rate, twelve layers",
    question=__doc__ or "",
    figure="lr",
    models={"attention": ATTENTION, "mamba": MAMBA},
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16,), 2, 4)),
        "laptop": replace(
            LAPTOP,
            note="V=64 L=32 K=4; two and six layers of width 32 instead of two and twelve of up to 2048; one seed; "
            "1,000 steps",
            lrs=rates(-4, -1, 1),
            seeds=LAPTOP.seeds[:1],
            shapes=shapes((32,), 2, 6),
            fields={"train.steps": 1000},
        ),
        "desk": replace(
            DESK, lrs=rates(-3, -2, 2), seeds=DESK.seeds[:1], shapes=shapes((64,), 2, 12), note=f"{DESK.note}; one seed"
        ),
        "paper": replace(PAPER, shapes=shapes((64, 128, 256, 512), 2, 12)),
    },
    minutes={"laptop": 6, "desk": 400},
)
