"""One layer: how do loss and accuracy move during training, on the training rows and on others?"""

from dataclasses import replace

from recollect.studies.models import SIX
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study, Variant

TWO = Variant("attention", {"model.n_layers": 2})

STUDY = Study(
    name="fig6",
    title="Training dynamics, one layer",
    question=__doc__ or "",
    figure="loss",
    models={
        **{label: SIX[label] for label in ("attention", "hyena", "mamba", "h3", "rwkv4")},
        "attention, 2 layers": TWO,
    },
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(
            LAPTOP,
            note="V=64 L=32 K=4 instead of V=8192 L=256 K=16; width 64 only; two learning rates",
            lrs=rates(-2.5, -2, 2),
            shapes=((64, 1),),
            fields={"train.eval_every": 50},
        ),
        "desk": replace(DESK, shapes=shapes((64, 128), 1), seeds=DESK.seeds[:1], note=f"{DESK.note}; one seed"),
        "paper": replace(PAPER, settings=PAIRS[2:3], shapes=shapes(WIDTHS, 1)),
    },
    minutes={"laptop": 8, "desk": 450},
)
