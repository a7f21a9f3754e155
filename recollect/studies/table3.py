"""Table 2, and on which of Q, K and V does attention need its convolution?

The paper says before the projections, its table on K, V, Q. On V both are run: before its projection (which, for one
branch alone, is the same as on the input that the named branches share), and after it.
"""

from dataclasses import replace

from recollect.studies import table2
from recollect.studies.parts import Variant
from recollect.studies.scales import TWO_RATES

V_AFTER = f"{table2.conv_on('V')}, projected"
GRIDS = {name: replace(scale, design="every") for name, scale in table2.STUDY.scales.items()}
AFTER = Variant("attention", {"model.mixer.conv": "v", "model.mixer.conv_at": "after"})

STUDY = replace(
    table2.STUDY,
    title="Ablations of one-layer attention and Mamba, branch by branch",
    models={**table2.STUDY.models, **table2.with_conv("K", "V", "Q"), V_AFTER: AFTER},
    scales={**GRIDS, "desk": replace(GRIDS["desk"], lrs=TWO_RATES)},
    minutes={"laptop": 31, "desk": 310},
)
