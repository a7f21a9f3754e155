"""What a study is made of: models, scales, designs, and the runs that follow from them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from recollect.spec import RunSpec
from recollect.spec.protocols import Fields
from recollect.window.best import grids
from recollect.window.tuned import MOST, USUAL

SCALES = ("smoke", "laptop", "desk", "paper")
Design = Literal["every", "best", "window"]
DESIGNS: dict[Design, str] = {"every": "every rate", "best": "best rate", "window": "by search"}
"""How a cell gets its learning rates, in words: each of the scale's with every seed; each with the first seed, then the
others at the best; by a search for the window, then all seeds at the best."""

Shape = tuple[int, int]
"""Width and number of layers."""


@dataclass(frozen=True)
class Case:
    """One run of a study and the label under which a figure shows it; `against` is a run of the cell that its own is
    compared with, where there is one."""

    label: str
    spec: RunSpec
    against: RunSpec | None = None


@dataclass(frozen=True)
class Variant:
    """A line of a figure: a mixer, and the fields that make it what its label says; they win over the scale's.

    Several mixers joined by commas are one model, one mixer per layer.
    One that replicates others is trained as they did: by their `protocol`, at their learning rates, whatever the scale
    has; only its sizes are the scale's.
    """

    mixer: str
    fields: Fields = field(default_factory=dict)
    protocol: str = ""
    lrs: tuple[float, ...] = ()

    def layers(self) -> str | list[str]:
        """Its mixer, or one for each layer where several are joined by commas."""
        return self.mixer.split(",") if "," in self.mixer else self.mixer


@dataclass(frozen=True)
class Scale:
    """How large a study is run.

    `own` are fields of single models, by label; `remark` is what its runs cannot tell (`Study.note` says the rest).
    `design` is how cells get their learning rates unless the user says otherwise, `span` where a search looks for them.
    """

    protocol: str
    lrs: tuple[float, ...]
    seeds: tuple[int, ...]
    settings: tuple[Fields, ...] = ({},)
    shapes: tuple[Shape, ...] = ((64, 2),)
    fields: Fields = field(default_factory=dict)
    own: Mapping[str, Fields] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    remark: str = ""
    design: Design = "every"
    span: tuple[float, float] = (1e-4, 1e-1)


def runs_of(design: Design, lrs: Collection[float], seeds: int, most: int = MOST) -> tuple[int, int]:
    """How many runs a cell with these learning rates and so many seeds gets by a design, usually and at most."""
    if design == "window":
        return USUAL + seeds, most + seeds
    if design == "every":
        return (len(lrs) * seeds,) * 2
    return len(lrs) + seeds - 1, len(lrs) + grids(lrs) * (seeds - 1)
