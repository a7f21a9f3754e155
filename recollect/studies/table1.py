"""Copying at an equal number of parameters: is Mamba better wide or deep?"""

from dataclasses import replace

from recollect.studies.copying import COPY_DESK, COPY_LAPTOP, COPY_PAPER, COPY_SMOKE, ROPE
from recollect.studies.models import ATTENTION, MAMBA, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import rates
from recollect.studies.study import Study

DEEP, WIDE = "mamba, deep", "mamba, wide"

STUDY = Study(
    title="Copying: parameters spent on depth or on width",
    figure="table",
    models={
        ATTENTION: Variant("attention", {**ROPE, "model.block": "mixer+mlp"}),
        **pick(MAMBA),
        DEEP: Variant("mamba"),
        WIDE: Variant("mamba"),
    },
    scales={
        "smoke": replace(COPY_SMOKE, own={DEEP: {"model.n_layers": 4}, WIDE: {"model.d_model": 32}}),
        "laptop": replace(
            COPY_LAPTOP,
            lrs=rates(-2.5, -2, 2),
            fields={**COPY_LAPTOP.fields, "train.steps": 1200},
            own={DEEP: {"model.n_layers": 4}, WIDE: {"model.d_model": 88}},
        ),
        "desk": replace(COPY_DESK, own={DEEP: {"model.n_layers": 4}, WIDE: {"model.d_model": 176}}),
        "paper": replace(COPY_PAPER, own={DEEP: {"model.n_layers": 24}, WIDE: {"model.d_model": 1408}}),
    },
    task="copy",
    minutes={"laptop": 6, "desk": 940},
)
