"""Are the newer recurrent models, Mamba2 and DeltaNet, as robust to the learning rate as attention?"""

from dataclasses import replace

from recollect.studies.models import DELTANET, MAMBA, MAMBA2, TWO_LAYERS, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, SPAN, WIDE, shapes
from recollect.studies.study import Study

LARGE = "mamba, state of 32"

STUDY = Study(
    title="Accuracy against learning rate, one layer of newer models",
    figure="lr",
    models={**pick(TWO_LAYERS, MAMBA, MAMBA2, DELTANET), LARGE: Variant("mamba", {"model.mixer.d_state": 32})},
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(LAPTOP, lrs=WIDE, shapes=((64, 1),), design="window"),
        "desk": replace(DESK, shapes=((64, 1),), design="window", span=SPAN),
        "paper": replace(PAPER, shapes=shapes((64, 128, 256), 1)),
    },
    minutes={"laptop": 55, "desk": 530},
)
