"""Are the newer recurrent models, Mamba2 and DeltaNet, as robust to the learning rate as attention?"""

from dataclasses import replace

from recollect.studies.models import MAMBA
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, shapes
from recollect.studies.study import Study, Variant

LARGE = "mamba, state of 32"
MODELS = {
    "attention, 2 layers": Variant("attention", {"model.n_layers": 2}),
    "mamba": MAMBA,
    "mamba2": Variant("mamba2"),
    "deltanet": Variant("deltanet"),
    LARGE: Variant("mamba", {"model.mixer.d_state": 32}),
}

STUDY = Study(
    name="fig7",
    title="Accuracy against learning rate, one layer of newer models",
    question=__doc__ or "",
    figure="lr",
    models=MODELS,
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(
            LAPTOP, note=f"{LAPTOP.note}; without Mamba's larger state", shapes=((64, 1),), without=(LARGE,)
        ),
        "desk": replace(DESK, shapes=((64, 1),), note=f"{DESK.note}; width 64 only"),
        "paper": replace(PAPER, shapes=shapes((64, 128, 256), 1)),
    },
    minutes={"laptop": 24, "desk": 530},
)
