"""Over which range of learning rates do attention, Mamba and Hyena learn to recall?"""

from dataclasses import replace

from recollect.studies.models import SIX
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE
from recollect.studies.study import Study

STUDY = Study(
    name="fig1",
    title="Accuracy against learning rate, two layers",
    question=__doc__ or "",
    figure="lr",
    models={label: SIX[label] for label in ("attention", "mamba", "hyena")},
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, lrs=LAPTOP.lrs[1:]),
        "desk": replace(DESK, note=f"{DESK.note}; width 64 only"),
        "paper": PAPER,
    },
    minutes={"laptop": 30, "desk": 440},
)
