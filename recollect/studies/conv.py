"""How many taps of its convolution does Mamba need to recall, with one layer and with two?"""

from dataclasses import replace

from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, TWO_RATES
from recollect.studies.study import Study


def taps(count: int, depth: int) -> str:
    """The label of so many layers with so many taps."""
    return f"{count} tap{'s' * (count != 1)}, {depth} layer{'s' * (depth > 1)}"


STUDY = Study(
    title="Mamba by the taps of its convolution, one layer and two",
    figure="table",
    models={
        taps(count, depth): Variant("mamba", {"model.mixer.d_conv": count, "model.n_layers": depth})
        for depth in (1, 2)
        for count in range(5)
    },
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, design="best"),
        "desk": replace(DESK, lrs=TWO_RATES),
        "paper": replace(PAPER, settings=(PAIRS[0], PAIRS[3]), shapes=((64, 1), (256, 1))),
    },
    minutes={"laptop": 28, "desk": 640},
)
