"""Your mixer beside others: whose learning-rate window is how wide, and what is recalled at which width?

`recollect compare my.py:Mixer` adds your model; without one these are the runs that recollect ships for it.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from recollect.errors import BadInput
from recollect.studies.models import DELTANET, MAMBA, TWO_LAYERS, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, SMOKE, SPAN, WIDE
from recollect.studies.study import Study

SHARES = (4, 2)
"""The narrower models: a fourth and a half of the width."""

STUDY = Study(
    title="Windows, accuracy over learning rates and widths",
    figure="compare",
    models=pick(TWO_LAYERS, MAMBA, DELTANET),
    scales={
        "smoke": replace(SMOKE, shapes=((32, 1),), lrs=(1e-3, 1e-2), design="window"),
        "laptop": replace(LAPTOP, lrs=WIDE, shapes=((64, 1),), design="window"),
        "desk": replace(DESK, shapes=((64, 1),), design="window", span=SPAN),
    },
    minutes={"laptop": 30, "desk": 530},
)


def models(names: Iterable[str]) -> dict[str, Variant]:
    """Label -> model; mixers joined by commas are the layers of one model, as in `attention,attention`."""
    found: dict[str, Variant] = {}
    for name in names:
        mixers = name.split(",")
        label = _label(mixers)
        if label in found:
            raise BadInput(f"compare: '{name}' is called '{label}', as another model is; give every model once")
        found[label] = Variant(name if len(set(mixers)) > 1 else mixers[0], {"model.n_layers": len(mixers)})
    return found


def _label(mixers: list[str]) -> str:
    """`attention, 2 layers`, `attention + mamba`, `my.py:Mixer`."""
    names = [str(Path(name).name) for name in mixers]
    if len(set(mixers)) > 1:
        return " + ".join(names)
    return names[0] if len(names) == 1 else f"{names[0]}, {len(names)} layers"
