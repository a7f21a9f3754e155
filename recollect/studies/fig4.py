"""At an equal number of parameters, is it better to be wide or deep?"""

from dataclasses import replace

from recollect.studies.models import SIX
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study

STUDY = Study(
    name="fig4",
    title="Accuracy against parameters: width or depth",
    question=__doc__ or "",
    figure="params",
    models=SIX,
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16, 32), 1, 2)),
        "laptop": replace(
            LAPTOP,
            note="V=64 L=32 K=4 instead of V=8192 L=256 K=64; widths 32 and 64; one seed, two learning rates, "
            "1,500 steps",
            lrs=rates(-2.5, -2, 2),
            seeds=LAPTOP.seeds[:1],
            shapes=shapes((32, 64), 1, 2),
            fields={"train.steps": 1500},
        ),
        "desk": replace(DESK, shapes=shapes((64, 128), 1, 2), seeds=DESK.seeds[:1], note=f"{DESK.note}; one seed"),
        "paper": replace(
            PAPER,
            settings=tuple({"task.length": 256, "task.n_pairs": pairs} for pairs in (64, 16)),
            shapes=shapes(WIDTHS, 1, 2),
        ),
    },
    minutes={"laptop": 9, "desk": 1200},
)
