"""The anchor cells: a miniature is faithful if it says of them what the paper's own cell says."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from recollect.claims.judge import SURE
from recollect.studies.models import ATTENTION, DELTANET, HYENA, MAMBA
from recollect.studies.table2 import NO_CONV, conv_on
from recollect.window import Window, surely_wider


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

Windows = Mapping[str, Window | None]
"""Scale -> the window there, None where there are too few runs to tell; scales without runs are missing."""


def learning(scales: Sequence[str], found: Windows) -> str:
    """Whether the scales agree that it learns somewhere."""
    told = {scale: window.width is not None for scale in scales if (window := found.get(scale)) is not None}
    if len(told) < len(scales):
        return "not told"
    if len(set(told.values())) == 1:
        return "agree" if all(told.values()) else "agree: none"
    return f"differ: at {', '.join(scale for scale, learns in told.items() if learns)} only"


def order(scales: Sequence[str], anchors: Mapping[str, Windows]) -> str:
    """Of the pairs whose order every scale is sure of: how many have the same everywhere, and which have not."""
    same, turned = 0, []
    for (one, mine), (other, theirs) in combinations(anchors.items(), 2):
        orders = {is_wider(mine.get(scale), theirs.get(scale)) for scale in scales}
        same += len(orders) == 1 and None not in orders
        turned += [f"{one} and {other}"] if orders == {True, False} else []
    sure = f"Of {same + len(turned)} pairs of windows of whose order {' and '.join(scales)} are both sure"
    told = f"{sure}, {same} have the same order"
    return f"{told}; turned round: {'; '.join(turned)}." if turned else f"{told}."


def is_wider(one: Window | None, other: Window | None) -> bool | None:
    """Whether the first is surely the wider one; None where that is not sure. No window is of width 0."""
    if one is None or other is None:
        return None
    least, greatest = surely_wider(one, other)
    return True if least >= SURE else False if greatest <= 1 - SURE else None
