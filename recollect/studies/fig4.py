"""At an equal number of parameters, is it better to be wide or deep?"""

from dataclasses import replace

from recollect.studies.models import BASED, H3, RWKV4, SIX, pick
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study

STUDY = Study(
    title="Accuracy against parameters: width or depth",
    figure="params",
    models=pick(*SIX),
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16, 32), 1, 2)),
        "laptop": replace(LAPTOP, shapes=shapes((16, 32, 48, 64), 1, 2), without=(BASED, H3, RWKV4), design="best"),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), shapes=shapes((64, 128), 1, 2), design="best"),
        "paper": replace(
            PAPER,
            settings=tuple({"task.length": 256, "task.n_pairs": pairs} for pairs in (64, 16)),
            shapes=shapes(WIDTHS, 1, 2),
        ),
    },
    minutes={"laptop": 45, "desk": 1200},
)
