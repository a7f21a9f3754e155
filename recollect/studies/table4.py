"""Do position encodings change what a recurrent model recalls?"""

from dataclasses import replace

from recollect.studies.models import H3, HYENA, MAMBA, RWKV4
from recollect.studies.scales import DESK, LAPTOP, ONE, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study, Variant

MIXERS = (MAMBA, HYENA, RWKV4, H3)
ENCODINGS = {
    "none": {},
    "absolute": {"model.positions": "sinusoidal"},
    "relative": {"model.mixer.positions": "rope"},
    "learned": {"model.positions": "learned"},
}
"""Relative positions have no meaning for a recurrence: here they are RoPE on B and C or q and k, else on the input."""


def encoded(mixer: str) -> dict[str, Variant]:
    """A mixer with each encoding, by label; with none first."""
    return {f"{mixer}, {name}": Variant(mixer, fields) for name, fields in ENCODINGS.items()}


STUDY = Study(
    title="Position encodings on recurrent models",
    figure="table",
    models={label: model for mixer in MIXERS for label, model in encoded(mixer).items()},
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, lrs=(1e-2,), shapes=((64, 1),)),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), seeds=ONE),
        "paper": replace(PAPER, settings=PAIRS[3:], shapes=((64, 2),)),
    },
    minutes={"laptop": 12, "desk": 490},
)
