"""Over which range of learning rates do attention, Mamba and Hyena learn to recall?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, HYENA, MAMBA, pick
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDE
from recollect.studies.study import Study

STUDY = Study(
    title="Accuracy against learning rate, two layers",
    figure="lr",
    models=pick(ATTENTION, MAMBA, HYENA),
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, lrs=WIDE, design="window"),
        "desk": replace(DESK, design="window"),
        "paper": PAPER,
    },
    minutes={"laptop": 45, "desk": 440},
)
