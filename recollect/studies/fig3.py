"""One layer: does width help, and whom?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, HYENA, MAMBA, pick
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study

STUDY = Study(
    title="Accuracy against width, one layer",
    figure="width",
    models=pick(ATTENTION, HYENA, MAMBA),
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16, 32), 1)),
        "laptop": replace(LAPTOP, shapes=shapes((16, 32, 64), 1)),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), shapes=shapes((64, 128), 1)),
        "paper": replace(PAPER, shapes=shapes(WIDTHS, 1)),
    },
    minutes={"laptop": 20, "desk": 410},
)
