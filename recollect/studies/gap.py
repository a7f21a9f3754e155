"""Where Mamba fails at every learning rate and attention recalls: does a change of training alone, or more of it, help?

At laptop scale that is two layers and a vocabulary of two halves, one for keys and one for values.
"""

from dataclasses import replace

from recollect.studies.confounders import SWITCHES
from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.scales import LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study
from recollect.studies.switches import AS_IT_IS, Switch, switched, under

BUDGET = {"train.steps": 50 * 782, "train.eval_every": 782}
"""The paper's 50 epochs of 100,000 rows in batches of 128, in steps: fresh rows know no epochs."""
LONGER = "four times the steps"
TRAINING = {name: switch for name, switch in SWITCHES.items() if switch.part == "training"}
TRAINING |= {LONGER: Switch("training", {"train.steps": 16_000})}


def longer(steps: int) -> dict[str, dict[str, int]]:
    """The longer budget of a scale that has so many steps; the laptop's is the label's own."""
    return {under(MAMBA, LONGER): {"train.steps": 4 * steps}}


STUDY = Study(
    title="Where two Mamba layers fail: changes of training alone",
    figure="table",
    models=switched({AS_IT_IS: Switch()}, ATTENTION, MAMBA) | switched(TRAINING, MAMBA),
    scales={
        "smoke": replace(SMOKE, own=longer(4)),
        "laptop": replace(LAPTOP, lrs=rates(-3, -1.5, 2), fields={"task.vocabulary": "split"}, design="best"),
        "paper": replace(
            PAPER, settings=PAIRS[3:], shapes=((64, 2),), fields=BUDGET, own=longer(BUDGET["train.steps"])
        ),
    },
    minutes={"laptop": 90},
)
