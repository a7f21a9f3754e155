"""Figure 3 with all models of the paper."""

from dataclasses import replace

from recollect.studies import fig3
from recollect.studies.models import SIX, pick
from recollect.studies.scales import ONE

SCALES = fig3.STUDY.scales

STUDY = replace(
    fig3.STUDY,
    title="Accuracy against width, one layer, all models",
    models=pick(*SIX),
    scales={**SCALES, "laptop": replace(SCALES["laptop"], seeds=ONE)},
    minutes={"laptop": 6, "desk": 660},
)
