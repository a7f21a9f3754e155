"""The anchor cells: a miniature is faithful if it says of them what the paper's own cell says."""

from typing import NamedTuple

from recollect.studies.models import ATTENTION, DELTANET, HYENA, MAMBA
from recollect.studies.table2 import NO_CONV, conv_on


class Anchor(NamedTuple):
    """A model, and the study that has its window."""

    words: str
    study: str
    label: str


ANCHORS = (
    Anchor("attention, 2 layers", "fig1", ATTENTION),
    Anchor("Mamba, 2 layers", "fig1", MAMBA),
    Anchor("Hyena, 2 layers", "fig1", HYENA),
    Anchor("attention, 1 layer", "table2", ATTENTION),
    Anchor("attention with conv, 1 layer", "table2", conv_on("QKV")),
    Anchor("Mamba, 1 layer", "table2", MAMBA),
    Anchor("Mamba without conv, 1 layer", "table2", NO_CONV),
    Anchor("DeltaNet, 1 layer", "fig7", DELTANET),
)
