"""Switches: what a protocol chooses and papers rarely report, each changed alone, on one mixer after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from recollect.spec.protocols import Fields
from recollect.studies.parts import Variant

Part = Literal["training", "model", "task"]


@dataclass(frozen=True)
class Switch:
    """What it changes, and what that belongs to: under a switch of training, model and task stay what they were.

    `mixers` are those that have it, where not all do.
    """

    part: Part | None = None
    fields: Fields = field(default_factory=dict)
    mixers: tuple[str, ...] = ()


AS_IT_IS = "as it is"
"""The name of what is not switched, with which all else is compared."""


ENOUGH = 0.3
"""Decades by which a remedy is to widen a window."""


def reference(label: str) -> str:
    """The label of the same mixer without a switch."""
    return under(label.partition(", ")[0], AS_IT_IS)


def under(mixer: str, switch: str) -> str:
    """The label of a mixer under a switch."""
    return f"{mixer}, {switch}"


def switched(switches: Mapping[str, Switch], *mixers: str, part: Part | None = None) -> dict[str, Variant]:
    """Each mixer under each switch that it has, by label; or only under those of one part."""
    return {
        under(mixer, name): Variant(mixer, switch.fields)
        for mixer in mixers
        for name, switch in switches.items()
        if mixer in (switch.mixers or mixers) and part in (None, switch.part)
    }
