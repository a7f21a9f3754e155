"""Figure 2 with all models of the paper."""

from dataclasses import replace

from recollect.studies import fig2
from recollect.studies.models import SIX, pick

STUDY = replace(
    fig2.STUDY,
    title="Accuracy against width, two layers, all models",
    models=pick(*SIX),
    minutes={"laptop": 13, "desk": 840},
)
