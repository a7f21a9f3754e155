"""Which part of a one-layer model lets it recall: the convolution, the gate, the mixer?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, WIDTHS, rates, shapes
from recollect.studies.study import Study

LR = rates(-3, -2, 2)
NO_CONV, NO_GATE, S6_MLP = "mamba w/o conv", "mamba w/o gate", "S6 + MLP"


def conv_on(branches: str) -> str:
    """The label of attention with a short convolution on these of Q, K and V."""
    return f"attention + conv on {branches}"


def with_conv(*branches: str) -> dict[str, Variant]:
    """Attention with each of these."""
    return {conv_on(each): Variant("attention", {"model.mixer.conv": each.lower()}) for each in branches}


STUDY = Study(
    title="Ablations of one-layer attention and Mamba",
    figure="table",
    models={
        **pick(ATTENTION),
        **with_conv("QKV"),
        **pick(MAMBA),
        NO_CONV: Variant("mamba", {"model.mixer.d_conv": 0}),
        NO_GATE: Variant("mamba", {"model.mixer.gate": False}),
        # S6 with its convolution and without its gate, in a Transformer's block.
        S6_MLP: Variant("mamba", {"model.mixer.gate": False, "model.block": "mixer+mlp"}),
    },
    scales={
        "smoke": replace(SMOKE, shapes=((16, 1),)),
        "laptop": replace(LAPTOP, lrs=LR, shapes=((64, 1),), design="window"),
        "desk": replace(DESK, lrs=LR, shapes=((64, 1),), design="window"),
        "paper": replace(PAPER, settings=PAIRS[3:], shapes=shapes(WIDTHS, 1)),
    },
    minutes={"laptop": 60, "desk": 650},
)
