"""Figure 2 with all models of the paper."""

from dataclasses import replace

from recollect.studies import fig2
from recollect.studies.models import SIX

STUDY = replace(
    fig2.STUDY,
    title="Accuracy against width, two layers, all models",
    models=fig2.with_replication(*SIX),
    minutes={"laptop": 110, "desk": 1400},
)
