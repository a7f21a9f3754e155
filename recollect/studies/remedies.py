"""Which remedy for a narrow window widens Mamba's, and which only shifts it?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, DELTANET, MAMBA
from recollect.studies.scales import LAPTOP, PAIRS, PAPER, SMOKE, SPAN
from recollect.studies.study import Study
from recollect.studies.switches import AS_IT_IS, Switch, reference, switched

ONLY_MAMBA = (MAMBA,)
NOTHING = {AS_IT_IS: Switch()}
REMEDIES = {
    "dynamics at 0.1 lr": Switch("training", {"train.lr_dynamics": 0.1}, ONLY_MAMBA),
    "dynamics at 0.03 lr": Switch("training", {"train.lr_dynamics": 0.03}, ONLY_MAMBA),
    "dynamics at 1e-3": Switch("training", {"train.fixed_lr_dynamics": 1e-3, "train.decay_dynamics": 0.0}, ONLY_MAMBA),
    "dynamics without decay": Switch("training", {"train.decay_dynamics": 0.0}, ONLY_MAMBA),
    "embedding at 0.1 lr": Switch("training", {"train.lr_embedding": 0.1}),
    "norms and biases at 0.1 lr": Switch("training", {"train.lr_norms": 0.1}),
    "step from 0.01 to 1": Switch("training", {"model.mixer.dt_min": 0.01, "model.mixer.dt_max": 1.0}, ONLY_MAMBA),
    "step 0.05": Switch("training", {"model.mixer.dt_min": 0.05, "model.mixer.dt_max": 0.05}, ONLY_MAMBA),
    "step bias 0": Switch("training", {"model.mixer.dt_start": "bias 0"}, ONLY_MAMBA),
    "step bias 1": Switch("training", {"model.mixer.dt_start": "bias 1"}, ONLY_MAMBA),
    "mimetic": Switch("training", {"model.mimetic_layers": (0, 1)}, ONLY_MAMBA),
    "mimetic, second layer": Switch("training", {"model.mimetic_layers": (1,)}, ONLY_MAMBA),
    "norms on B and C": Switch("model", {"model.mixer.norms": "bc"}, ONLY_MAMBA),
    "norms on B, C and step": Switch("model", {"model.mixer.norms": "bcdt"}, ONLY_MAMBA),
    "bounded decay": Switch("model", {"model.mixer.decay": "bounded"}, ONLY_MAMBA),
    "QK-norm": Switch("model", {"model.mixer.qk_norm": True}, (ATTENTION,)),
    "Muon": Switch("training", {"train.optimiser": "muon"}),
    "Lion": Switch("training", {"train.optimiser": "lion", "train.beta2": 0.99}),
    "embedding deviation 1": Switch("training", {"model.embedding_std": 1.0}),
    "µP from width 16": Switch("training", {"model.base_width": 16}),
}
"""Formulas and sources: docs/remedies.md."""

STUDY = Study(
    title="What remedies do to the learning-rate window, two layers",
    figure="effects",
    models=switched(NOTHING | REMEDIES, MAMBA, ATTENTION) | switched(NOTHING, DELTANET),
    scales={
        "smoke": replace(SMOKE, lrs=(1e-2,)),
        "laptop": replace(LAPTOP, design="window"),
        "paper": replace(PAPER, settings=PAIRS[:1], shapes=((64, 2),), design="window", span=SPAN),
    },
    minutes={"laptop": 280},
    against=reference,
)
