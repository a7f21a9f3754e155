"""Table 2, and on which of Q, K and V does attention need its convolution?"""

from dataclasses import replace

from recollect.studies import table2

STUDY = replace(
    table2.STUDY,
    title="Ablations of one-layer attention and Mamba, branch by branch",
    models={**table2.STUDY.models, **table2.with_conv("K", "V", "Q")},
    minutes={"laptop": 21, "desk": 410},
)
