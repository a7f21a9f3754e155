"""Does one attention layer recall, do two, and does a short convolution make up for the missing one?"""

from dataclasses import replace

from recollect.studies.scales import LAPTOP, SMOKE
from recollect.studies.study import Study, Variant

STUDY = Study(
    name="demo",
    title="One attention layer, two, and one with a short convolution",
    question=__doc__ or "",
    figure="dynamics",
    models={
        "attention, 2 layers": Variant("attention", {"model.n_layers": 2}),
        "attention + conv, 1 layer": Variant("attention", {"model.n_layers": 1, "model.mixer.conv": "qkv"}),
        "attention, 1 layer": Variant("attention", {"model.n_layers": 1}),
    },
    scales={
        "smoke": replace(SMOKE, lrs=(2e-3,)),
        "laptop": replace(
            LAPTOP,
            note="V=64 L=32 K=8, one learning rate",
            lrs=(2e-3,),
            settings=({},),
            fields={"train.eval_every": 50},
        ),
    },
    minutes={"laptop": 1},
)
