"""Figure 3 with all six models."""

from dataclasses import replace

from recollect.studies import fig3
from recollect.studies.models import SIX

STUDY = replace(
    fig3.STUDY,
    name="fig12",
    title="Accuracy against width, one layer, all models",
    question=__doc__ or "",
    models=SIX,
)
