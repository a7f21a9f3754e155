"""Do position encodings change what a recurrent model recalls?"""

from dataclasses import replace
from typing import Any

from recollect.studies.models import H3, HYENA, MAMBA, RWKV4
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study

MIXERS = (MAMBA, HYENA, RWKV4, H3)
ENCODINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "absolute": {"model.positions": "sinusoidal"},
    "small absolute": {"model.positions": "sinusoidal", "model.position_amplitude": 0.02},
    "relative": {"model.mixer.positions": "rope"},
    "learned": {"model.positions": "learned"},
}
"""The paper does not scale its sinusoids: they are read with amplitude 1, and as small as the embeddings are drawn.
Relative positions have no meaning for a recurrence: here they are RoPE on B and C or q and k, else on the input."""
READINGS = (("absolute", "small absolute"), ("relative",), ("learned",))
"""The encodings of the paper, each with its readings."""


def under(mixer: str, encoding: str) -> str:
    """The label of a mixer with an encoding."""
    return f"{mixer}, {encoding}"


def encoded(mixer: str) -> dict[str, Variant]:
    """A mixer with each encoding, by label; with none first."""
    return {under(mixer, name): Variant(mixer, fields) for name, fields in ENCODINGS.items()}


STUDY = Study(
    title="Position encodings on recurrent models",
    figure="table",
    models={label: model for mixer in MIXERS for label, model in encoded(mixer).items()},
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, shapes=((64, 1),), design="best"),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), design="best"),
        "paper": replace(PAPER, settings=PAIRS[3:], shapes=((64, 2),)),
    },
    minutes={"laptop": 36, "desk": 1000},
)
