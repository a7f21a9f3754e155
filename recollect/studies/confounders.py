"""Which switch of the protocol that nobody reports moves whose window? One factor at a time.

Zoology's old initialisation is none of them: it differs from GPT-2's in mixers alone that are not here.
"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.scales import LAPTOP, PAIRS, PAPER, SMOKE, SPAN
from recollect.studies.study import Study
from recollect.studies.switches import AS_IT_IS, Switch, reference, switched

EPOCH = 196
"""The paper's epoch in steps, 100,000 rows in batches of 512: fresh rows know no epochs."""

SWITCHES = {
    AS_IT_IS: Switch(),
    "init gpt2": Switch("training", {"model.init": "gpt2"}),
    "decay on matrices": Switch("training", {"train.decay_scope": "matrices"}),
    "no decay": Switch("training", {"train.weight_decay": 0.0}),
    "with MLP": Switch("model", {"model.block": "mixer+mlp"}),
    "without MLP": Switch("model", {"model.block": "mixer"}),
    "dropout 0.1": Switch("model", {"model.dropout": 0.1}),
    "vocabulary split": Switch("task", {"task.vocabulary": "split"}),
    "vocabulary shared": Switch("task", {"task.vocabulary": "shared"}),
    "random filler": Switch("task", {"task.filler": "random"}),
    "fresh rows": Switch("training", {"task.rows": "fresh"}),
    "no warm-up": Switch("training", {"train.warmup": 0.0}),
    "constant rate": Switch("training", {"train.schedule": "constant"}),
    "clip at 1": Switch("training", {"train.clip": 1.0}),
    "no clipping": Switch("training", {"train.clip": None}),
    "beta2 0.95": Switch("training", {"train.beta2": 0.95}),
    "2 heads": Switch("model", {"model.mixer.n_heads": 2}, mixers=(ATTENTION,)),
}

STUDY = Study(
    title="Windows under one changed switch each",
    figure="effects",
    models=switched(SWITCHES, ATTENTION, MAMBA),
    scales={
        "smoke": replace(SMOKE, lrs=(1e-2,)),
        "laptop": replace(LAPTOP, design="window"),
        "paper": replace(
            PAPER,
            settings=PAIRS[:1],
            shapes=((64, 2), (128, 2)),
            fields={"train.steps": 50 * EPOCH, "train.eval_every": EPOCH},
            design="window",
            span=SPAN,
        ),
    },
    minutes={"laptop": 240},
    against=reference,
)
