"""Two layers: how does accuracy grow with width, with Zoology's four learning rates and with a finer grid?"""

from dataclasses import replace

from recollect.studies.models import SIX
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, ZOOLOGYS, shapes
from recollect.studies.study import Study

FINER = tuple(sorted({*ZOOLOGYS, 1e-3, 4.73151e-3, 2.11349e-2}))
SCALES = {
    "smoke": replace(SMOKE, shapes=shapes((16, 32), 2)),
    "laptop": replace(
        LAPTOP,
        note="V=64 L=32 K=4 instead of lengths to 512; widths 32 and 64; one seed; 1,000 steps",
        lrs=FINER,
        seeds=LAPTOP.seeds[:1],
        shapes=shapes((32, 64), 2),
        fields={"train.steps": 1000},
    ),
    "desk": replace(DESK, shapes=shapes((64, 128), 2), seeds=DESK.seeds[:1], note=f"{DESK.note}; one seed"),
    "paper": replace(PAPER, lrs=tuple(sorted({*PAPER.lrs, *ZOOLOGYS}))),
}

STUDY = Study(
    name="fig2",
    title="Accuracy against width, two layers",
    question=__doc__ or "",
    figure="width",
    models={label: SIX[label] for label in ("attention", "hyena", "mamba")},
    scales=SCALES,
    minutes={"laptop": 8, "desk": 480},
)
