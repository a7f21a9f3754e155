"""Copying: over which range of learning rates do a Transformer and Mamba learn to copy a string?"""

from dataclasses import replace

from recollect.studies.copying import COPY_DESK, COPY_LAPTOP, COPY_PAPER, COPY_SMOKE, ROPE
from recollect.studies.models import ATTENTION, MAMBA, pick
from recollect.studies.parts import Variant
from recollect.studies.study import Study

STUDY = Study(
    title="Copying: string accuracy against learning rate",
    figure="lr",
    models={ATTENTION: Variant("attention", ROPE), **pick(MAMBA)},
    scales={
        "smoke": COPY_SMOKE,
        "laptop": replace(COPY_LAPTOP, design="window"),
        "desk": replace(COPY_DESK, design="window"),
        "paper": COPY_PAPER,
    },
    task="copy",
    minutes={"laptop": 14, "desk": 350},
)
