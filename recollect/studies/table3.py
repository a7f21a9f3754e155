"""Table 2, and on which of Q, K and V does attention need its convolution?"""

from dataclasses import replace

from recollect.studies import table2
from recollect.studies.models import with_conv

STUDY = replace(
    table2.STUDY,
    name="table3",
    title="Ablations of one-layer attention and Mamba, branch by branch",
    question=__doc__ or "",
    models={**table2.STUDY.models, **{f"attention + conv on {b}": with_conv(b.lower()) for b in "KVQ"}},
    minutes={"laptop": 21, "desk": 410},
)
