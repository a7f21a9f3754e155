"""Claims 37 to 39 and 42: newer models (Fig 7) and theory."""

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    FAILS,
    SOLVES,
    SURE,
    WIDER,
    decide,
    facing,
    has_window,
    is_rising,
    show_pairs,
    wider_than,
    width,
)
from recollect.studies.fig7 import LARGE
from recollect.studies.gap import TRAINING
from recollect.studies.models import ATTENTION, DELTANET, MAMBA, MAMBA2, TWO_LAYERS
from recollect.studies.switches import AS_IT_IS, switched, under
from recollect.window import surely_wider


def as_robust(evidence: Evidence) -> Finding:
    """DeltaNet's window against that of two attention layers."""
    pairs = [(mine, other) for _, mine, other in facing(evidence, TWO_LAYERS, (DELTANET,))]
    level = all(surely_wider(other.window, mine.window, 0.8)[0] >= SURE for mine, other in pairs)
    narrower = any(surely_wider(mine.window, other.window)[0] >= SURE for mine, other in pairs)
    numbers = "; ".join(f"attention {width(mine)}, {DELTANET} {width(other)}" for mine, other in pairs)
    if not pairs or not all(has_window(mine) for mine, _ in pairs):
        return Finding("open", f"attention has no window that is sure, and 90 % at its best rate: {numbers}")
    return Finding(decide(level and all(has_window(other) for _, other in pairs), narrower), numbers)


def optimisation(evidence: Evidence) -> Finding:
    """Wherever Mamba fails at every rate and attention does not: does a change of training alone solve it?"""
    plain, training = under(MAMBA, AS_IT_IS), switched(TRAINING, MAMBA)
    faced = facing(evidence, under(ATTENTION, AS_IT_IS), (plain,))
    gaps = [mamba for _, other, mamba in faced if mamba.choice.mean < SOLVES <= other.choice.mean]
    if not gaps:
        return Finding("open", f"there is no gap: {show_pairs('attention', faced)}")
    tried = facing(evidence, plain, [label for label in evidence.runs if label in training])
    best = [max((pair for pair in tried if pair[1] is gap), key=lambda pair: pair[2].choice.mean) for gap in gaps]
    means = [cell.choice.mean for _, _, cell in best]
    ahead = any(is_rising(cell, FAILS) for _, _, cell in best)
    luckiest = max(max(gap.choice.accuracies) for gap in gaps)
    return Finding(
        decide(min(means) >= SOLVES and luckiest < SOLVES, min(means) < FAILS and not ahead),
        f"best change: {show_pairs('Mamba as it is', best)}",
    )


CLAIMS = (
    Claim(
        number=37,
        statement="Mamba2 is slightly more stable than Mamba.",
        where="Fig 7",
        paper="slightly",
        study="fig7",
        rule=WIDER,
        version=4,
        test=wider_than(MAMBA2, MAMBA),
    ),
    Claim(
        number=38,
        statement="DeltaNet is as robust to the learning rate as a Transformer.",
        where="Fig 7",
        paper="as robust",
        study="fig7",
        rule="attention needs a window that is sure (P >= 0.9) and 90 % at its best rate: supported if DeltaNet has "
        "one, and P(it has 80 % of the width of attention's) >= 0.95, contradicted if P(attention wider) >= 0.95, "
        "whatever lies beyond the range; a hole is no width, and a window in which over a quarter of the seeds fail is "
        "at most as wide as it seems",
        version=5,
        test=Test((TWO_LAYERS, DELTANET), as_robust),
    ),
    Claim(
        number=39,
        statement="A larger state helps stability a little.",
        where="Fig 7",
        paper="marginally",
        study="fig7",
        rule=f"Mamba with DeltaNet's state size: {WIDER}",
        version=4,
        test=wider_than(LARGE, MAMBA),
    ),
    Claim(
        number=42,
        statement="The gap is one of optimisation, not of expressivity.",
        where="Sec 1",
        paper="mainly",
        study="gap",
        rule="wherever Mamba fails and attention reaches 90 %: supported if a change of training alone, four times its "
        "steps among them, reaches 90 % and no seed did before, contradicted if at one width none reaches 50 %; every "
        "run is to be done, with three seeds under each change",
        version=5,
        test=Test(
            (under(MAMBA, AS_IT_IS), under(ATTENTION, AS_IT_IS)), optimisation, also=tuple(switched(TRAINING, MAMBA))
        ),
    ),
)
