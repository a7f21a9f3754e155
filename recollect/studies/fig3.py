"""One layer: does width help, and whom?"""

from dataclasses import replace

from recollect.studies.models import SIX
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study

SCALES = {
    "smoke": replace(SMOKE, shapes=shapes((16, 32), 1)),
    "laptop": replace(
        LAPTOP,
        note="V=64 L=32 K=4 instead of lengths to 512; widths 16 and 64; three learning rates",
        lrs=rates(-3, -2, 2),
        shapes=shapes((16, 64), 1),
    ),
    "desk": replace(DESK, lrs=rates(-3, -2, 2), shapes=shapes((64, 128), 1), note=DESK.note.replace("five", "three")),
    "paper": replace(PAPER, shapes=shapes(WIDTHS, 1)),
}

STUDY = Study(
    name="fig3",
    title="Accuracy against width, one layer",
    question=__doc__ or "",
    figure="width",
    models={label: SIX[label] for label in ("attention", "hyena", "mamba")},
    scales=SCALES,
    minutes={"laptop": 11, "desk": 410},
)
