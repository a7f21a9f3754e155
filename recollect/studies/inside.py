"""What forms inside a model that learns to recall: an induction head, or something else? What fades with distance?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, DELTANET, MAMBA, MAMBA2, TWO_LAYERS, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study
from recollect.studies.table2 import NO_CONV, with_conv

LR = rates(-3, -2, 2)

STUDY = Study(
    title="Inside: loss, accuracy, scores of induction, and what fades with distance",
    figure="inside",
    models={
        **pick(TWO_LAYERS, ATTENTION),
        **with_conv("K"),
        **pick(MAMBA),
        NO_CONV: Variant("mamba", {"model.mixer.d_conv": 0}),
        **pick(MAMBA2, DELTANET),
    },
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(LAPTOP, lrs=LR, shapes=((64, 1),), fields={"train.eval_every": 50}, design="best"),
        "desk": replace(DESK, lrs=LR, shapes=((64, 1),), design="best"),
        "paper": replace(PAPER, settings=PAIRS[:1], shapes=((64, 1),)),
    },
    minutes={"laptop": 10, "desk": 260},
    looks_inside=True,
)
