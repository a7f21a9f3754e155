"""Figure 3 with all models of the paper."""

from dataclasses import replace

from recollect.studies import fig3
from recollect.studies.models import SIX, pick

STUDY = replace(
    fig3.STUDY,
    title="Accuracy against width, one layer, all models",
    models=pick(*SIX),
    minutes={"laptop": 33, "desk": 660},
)
