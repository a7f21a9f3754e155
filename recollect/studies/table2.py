"""Which part of a one-layer model lets it recall: the convolution, the gate, the mixer?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA, NO_CONV, S6_MLP, with_conv
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study, Variant

LR = rates(-3, -2, 2)
SCALES = {
    "smoke": replace(SMOKE, shapes=((16, 1),)),
    "laptop": replace(
        LAPTOP,
        note=f"{LAPTOP.note} (S6 + MLP has its MLP); three learning rates",
        lrs=LR,
        shapes=((64, 1),),
    ),
    "desk": replace(DESK, lrs=LR, shapes=((64, 1),), note=f"{DESK.note.replace('five', 'three')}; width 64 only"),
    "paper": replace(PAPER, settings=PAIRS[3:], shapes=shapes(WIDTHS, 1)),
}

STUDY = Study(
    name="table2",
    title="Ablations of one-layer attention and Mamba",
    question=__doc__ or "",
    figure="table",
    models={
        "attention": ATTENTION,
        "attention + conv on QKV": with_conv("qkv"),
        "mamba": MAMBA,
        "mamba w/o conv": NO_CONV,
        "mamba w/o gate": Variant("mamba", {"model.mixer.gate": False}),
        "S6 + MLP": S6_MLP,
    },
    scales=SCALES,
    minutes={"laptop": 18, "desk": 310},
)
