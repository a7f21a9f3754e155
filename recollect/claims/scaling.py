"""Claims 12 to 19: width and depth (Figs 3, 4, 12, Table 1)."""

import itertools

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    NEAR,
    RECURRENT,
    SOLVES,
    Axis,
    along,
    at_best,
    at_least,
    at_most,
    both,
    decide,
    named,
    show,
)
from recollect.studies.models import ATTENTION, BASED, MAMBA
from recollect.studies.table1 import DEEP, WIDE

AXES: tuple[Axis, ...] = ("width", "depth")
ALIKE = 1.5
"""Parameter counts within this factor count as equal."""


def gain(evidence: Evidence, label: str, axis: Axis) -> float:
    """The mean gain in test accuracy from the smallest to the largest along an axis."""
    lines = [line for line in along(evidence, label, axis) if len(line) > 1]
    return sum(line[-1].choice.mean - line[0].choice.mean for line in lines) / len(lines) if lines else 0.0


def width_helps(evidence: Evidence) -> Finding:
    """Recurrent models from width to width."""
    lines = [line for label in RECURRENT for line in along(evidence, label, "width")]
    steps = [b.choice.mean - a.choice.mean for line in lines for a, b in itertools.pairwise(line)]
    gains = [line[-1].choice.mean - line[0].choice.mean for line in lines if line[0].choice.mean < SOLVES]
    if not steps:
        return Finding("open", "one width only")
    numbers = f"from width to width at worst {min(steps):+.1%}; from least to largest "
    numbers += ", ".join(f"{value:+.1%}" for value in gains) or "solved at the least"
    return Finding(decide(min(steps) > -0.02 and all(value >= NEAR for value in gains), min(steps) < -0.1), numbers)


def one_pair(evidence: Evidence) -> Finding:
    """One attention layer against 1/K."""
    found = named(evidence, (ATTENTION,))
    gaps = [abs(cell.choice.mean - cell.floor("1/K")) for _, cell in found]
    floors = {f"1/K {cell.floor('1/K'):.1%}, position only {cell.floor('position only'):.1%}" for _, cell in found}
    return Finding(decide(max(gaps) <= NEAR, max(gaps) > 2 * NEAR), f"{show(found)}; {'; '.join(sorted(floors))}")


def wide_leads(evidence: Evidence) -> Finding:
    """The wide Mamba against the deep one; a study has one cell of each."""
    found = named(evidence, (WIDE, DEEP))
    wide, deep = (cell.choice.mean for _, cell in found)
    return Finding(decide(wide - deep >= 0.3, wide < deep), show(found))


def shape_matters(evidence: Evidence) -> Finding:
    """Cells of about equal parameters and different shape: how far apart are they?"""
    gaps = {label: equal_parameters(evidence, label) for label in (ATTENTION, MAMBA)}
    numbers = "; ".join(f"{label}: at equal parameters up to {value:.1%} apart" for label, value in gaps.items())
    return Finding(decide(min(gaps.values()) >= 0.3, max(gaps.values()) < 0.1), numbers)


def equal_parameters(evidence: Evidence, label: str) -> float:
    """The largest difference between two cells of one task with about equal parameters."""
    gaps = [0.0]
    for (one, a), (other, b) in itertools.combinations(evidence.of(label).items(), 2):
        sizes = sorted(int((cell.records[0].result or {})["n_params"]) for cell in (a, b))
        if one.task == other.task and sizes[1] <= ALIKE * sizes[0]:
            gaps.append(abs(a.choice.mean - b.choice.mean))
    return max(gaps)


def preferred_axes(evidence: Evidence) -> Finding:
    """Attention: depth over width. Recurrent models: width over depth."""
    gains = {(label, axis): gain(evidence, label, axis) for label in (ATTENTION, *RECURRENT) for axis in AXES}
    lead = [gains[ATTENTION, "depth"] - gains[ATTENTION, "width"]]
    lead += [gains[label, "width"] - gains[label, "depth"] for label in RECURRENT]
    numbers = "; ".join(f"{label} {value:+.1%} from {axis}" for (label, axis), value in gains.items())
    return Finding(decide(min(lead) >= NEAR, min(lead) <= -NEAR), numbers)


CLAIMS = (
    Claim(
        number=12,
        statement="With one layer, more width always helps a recurrent model.",
        where="Fig 3",
        paper="always",
        study="fig3",
        rule="supported if no step in width loses 2 % and every unsolved line gains 5 %, "
        "contradicted if a step loses 10 %",
        test=Test(RECURRENT, width_helps),
    ),
    Claim(
        number=13,
        statement="One layer of attention fails at every width.",
        where="Fig 3",
        paper="fails",
        study="fig3",
        rule="supported if every width stays below 50 %, contradicted if one reaches 90 %",
        test=at_most(ATTENTION),
    ),
    Claim(
        number=14,
        statement="One layer of Based fails likewise.",
        where="workshop version",
        paper="fails",
        study="fig12",
        rule="supported if every width stays below 50 %, contradicted if one reaches 90 %",
        test=at_most(BASED),
    ),
    Claim(
        number=15,
        statement="One layer of attention recalls one pair on average: 1/K.",
        where="Sec 4",
        paper="1/K",
        study="fig3",
        rule="distance from 1/K: supported if within 5 % in every cell, contradicted if beyond 10 % in one",
        test=Test((ATTENTION,), one_pair),
    ),
    Claim(
        number=16,
        statement="One layer of Mamba recalls when its learning rate is tuned.",
        where="Sec 6",
        paper="solved",
        study="fig3",
        rule="supported if a width reaches 90 %, contradicted if all stay below 50 %",
        test=at_best(MAMBA),
    ),
    Claim(
        number=17,
        statement="How a model is scaled matters more than how many parameters it has.",
        where="Fig 4",
        paper="the strategy decides",
        study="fig4",
        rule="cells within 1.5x in parameters: supported if 30 % apart for both models, "
        "contradicted if under 10 % for both",
        test=Test((ATTENTION, MAMBA), shape_matters),
    ),
    Claim(
        number=18,
        statement="Recurrent models gain from width, attention from depth.",
        where="Fig 4",
        paper="opposite",
        study="fig4",
        rule="lead of the preferred axis: supported if >= 5 % for every model, "
        "contradicted if one prefers the other by 5 %",
        test=Test((ATTENTION, *RECURRENT), preferred_axes),
    ),
    Claim(
        number=19,
        statement="Copying at equal parameters: attention copies, a deep narrow Mamba does not, "
        "a wide shallow one does.",
        where="Table 1",
        paper="100, 16, 100 %",
        study="table1",
        rule="supported if attention reaches 90 % and wide leads deep by 30 %, contradicted if deep is level with wide",
        test=both(at_least(ATTENTION), Test((DEEP, WIDE), wide_leads)),
    ),
)
