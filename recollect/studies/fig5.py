"""Copying: over which range of learning rates do a Transformer and Mamba learn to copy a string?"""

from recollect.studies.copying import COPY_DESK, COPY_LAPTOP, COPY_PAPER, COPY_SMOKE, ROPE
from recollect.studies.study import Study, Variant

STUDY = Study(
    name="fig5",
    title="Copying: string accuracy against learning rate",
    question=__doc__ or "",
    figure="lr",
    models={"attention": Variant("attention", ROPE), "mamba": Variant("mamba")},
    scales={"smoke": COPY_SMOKE, "laptop": COPY_LAPTOP, "desk": COPY_DESK, "paper": COPY_PAPER},
    task="copy",
    minutes={"laptop": 9, "desk": 350},
)
