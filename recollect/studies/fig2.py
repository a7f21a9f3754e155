"""Two layers: how does accuracy grow with width, and what does a finer grid of learning rates than Zoology's add?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, HYENA, MAMBA, pick
from recollect.studies.scales import DESK, LAPTOP, ONE, PAPER, SMOKE, ZOOLOGYS, shapes
from recollect.studies.study import Study

FINER = tuple(sorted({*ZOOLOGYS, 1e-3, 4.73151e-3, 2.11349e-2}))

STUDY = Study(
    title="Accuracy against width, two layers",
    figure="width",
    models=pick(ATTENTION, HYENA, MAMBA),
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16, 32), 2)),
        "laptop": replace(LAPTOP, lrs=FINER, seeds=ONE, shapes=shapes((32, 64), 2), fields={"train.steps": 1000}),
        "desk": replace(DESK, shapes=shapes((64, 128), 2), seeds=ONE),
        "paper": replace(PAPER, lrs=tuple(sorted({*PAPER.lrs, *ZOOLOGYS}))),
    },
    minutes={"laptop": 8, "desk": 480},
)
