"""Two layers: how does accuracy grow with width, and what does a finer grid of learning rates than Zoology's add?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, HYENA, MAMBA, pick
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAPER, SMOKE, ZOOLOGYS, shapes
from recollect.studies.study import Study

BETWEEN, ABOVE = (1e-3, 4.73151e-3), (2.11349e-2, 4.73151e-2)
"""Learning rates between Zoology's, and above them as far as the windows of figure 1 reach."""


def replicated(label: str) -> str:
    """The label of a model as Zoology trained it."""
    return f"{label} as in Zoology"


def with_replication(*labels: str) -> dict[str, Variant]:
    """Our models, and each as Zoology trained it: by its protocol, at its four learning rates."""
    theirs = {replicated(label): Variant(label, protocol="zoology", lrs=ZOOLOGYS) for label in labels}
    return pick(*labels) | theirs


def finer(*others: float) -> tuple[float, ...]:
    """Zoology's learning rates and others."""
    return tuple(sorted({*ZOOLOGYS, *others}))


STUDY = Study(
    title="Accuracy against width, two layers",
    figure="width",
    models=with_replication(ATTENTION, HYENA, MAMBA),
    scales={
        "smoke": replace(SMOKE, shapes=shapes((16, 32), 2)),
        "laptop": replace(LAPTOP, lrs=finer(*BETWEEN, *ABOVE), shapes=shapes((16, 32, 64), 2), design="best"),
        "desk": replace(DESK, lrs=finer(*BETWEEN), shapes=shapes((64, 128), 2), design="best"),
        "paper": replace(PAPER, lrs=finer(*PAPER.lrs)),
    },
    minutes={"laptop": 85, "desk": 700},
)
