"""Is the window set by the mixer or by the depth?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA, pick
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDE, rates, shapes
from recollect.studies.study import Study

STUDY = Study(
    title="Accuracy against learning rate, shallow and deep",
    figure="lr",
    models=pick(ATTENTION, MAMBA),
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16,), 2, 4)),
        "laptop": replace(LAPTOP, lrs=WIDE, shapes=shapes((64,), 2, 6), design="window"),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), shapes=shapes((64,), 2, 12), design="best"),
        "paper": replace(PAPER, shapes=shapes((64, 128, 256, 512), 2, 12)),
    },
    minutes={"laptop": 200, "desk": 670},
)
