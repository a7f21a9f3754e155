"""Does one attention layer recall, do two, and does a short convolution make up for the missing one?"""

from dataclasses import replace

from recollect.studies.models import TWO_LAYERS, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import LAPTOP, SMOKE
from recollect.studies.study import Study

STUDY = Study(
    title="One attention layer, two, and one with a short convolution",
    figure="dynamics",
    models={
        **pick(TWO_LAYERS),
        "attention + conv, 1 layer": Variant("attention", {"model.n_layers": 1, "model.mixer.conv": "qkv"}),
        "attention, 1 layer": Variant("attention", {"model.n_layers": 1}),
    },
    scales={
        "smoke": replace(SMOKE, lrs=(2e-3,)),
        "laptop": replace(LAPTOP, protocol="laptop-split", lrs=(2e-3,), fields={"train.eval_every": 50}),
    },
    minutes={"laptop": 1},
)
