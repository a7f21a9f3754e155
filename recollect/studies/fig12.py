"""Figure 3 with all six models."""

from dataclasses import replace

from recollect.studies import fig3
from recollect.studies.models import SIX

LAPTOP_3 = fig3.SCALES["laptop"]

STUDY = replace(
    fig3.STUDY,
    name="fig12",
    title="Accuracy against width, one layer, all models",
    question=__doc__ or "",
    models=SIX,
    scales={**fig3.SCALES, "laptop": replace(LAPTOP_3, seeds=LAPTOP_3.seeds[:1], note=f"{LAPTOP_3.note}; one seed")},
    minutes={"laptop": 6, "desk": 660},
)
