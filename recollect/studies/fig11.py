"""Figure 2 with all six models."""

from dataclasses import replace

from recollect.studies import fig2
from recollect.studies.models import SIX

STUDY = replace(
    fig2.STUDY,
    name="fig11",
    title="Accuracy against width, two layers, all models",
    question=__doc__ or "",
    models=SIX,
    minutes={"laptop": 13, "desk": 840},
)
