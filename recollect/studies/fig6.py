"""One layer, and two of attention: how do loss and accuracy move during training, on the training rows and others?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, H3, HYENA, MAMBA, RWKV4, TWO_LAYERS, pick
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, WIDTHS, shapes
from recollect.studies.study import Study

STUDY = Study(
    title="Training dynamics, one layer and two of attention",
    figure="loss",
    models=pick(ATTENTION, HYENA, MAMBA, H3, RWKV4, TWO_LAYERS),
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(LAPTOP, shapes=((64, 1),), fields={"train.eval_every": 50}),
        "desk": replace(DESK, shapes=shapes((64, 128), 1), design="best"),
        "paper": replace(PAPER, settings=PAIRS[2:3], shapes=shapes(WIDTHS, 1)),
    },
    minutes={"laptop": 20, "desk": 630},
)
