"""Claims 12 to 19: width and depth (Figs 3, 4, 12, Table 1)."""

import itertools
import math

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    FAILS,
    NEAR,
    RECURRENT,
    SOLVES,
    Axis,
    above_floor,
    along,
    at_best,
    at_most,
    best_mean,
    decide,
    named,
    show,
    with_control,
)
from recollect.studies.models import ATTENTION, BASED, MAMBA
from recollect.studies.table1 import DEEP, WIDE

AXES: tuple[Axis, ...] = ("width", "depth")
ALIKE = 1.5
"""Parameter counts within this factor count as equal."""
CHANCE = 0.8
"""The share of 1/K that one who guesses among the values of a row reaches at least."""


def gain(evidence: Evidence, label: str, axis: Axis) -> float:
    """The mean gain in recall beyond guessing from the smallest to the largest along an axis; NaN if there is one."""
    lines = [line for line in along(evidence, label, axis) if len(line) > 1]
    return sum(above_floor(line[-1]) - above_floor(line[0]) for line in lines) / len(lines) if lines else math.nan


def width_helps(evidence: Evidence) -> Finding:
    """Recurrent models from width to width: what they recall beyond guessing."""
    lines = [line for label in RECURRENT for line in along(evidence, label, "width")]
    steps = [above_floor(b) - above_floor(a) for line in lines for a, b in itertools.pairwise(line)]
    gains = [above_floor(line[-1]) - above_floor(line[0]) for line in lines if line[0].choice.mean < SOLVES]
    if not steps:
        return Finding("open", "one width only")
    numbers = f"from width to width at worst {min(steps):+.1%}; from least to largest "
    numbers += ", ".join(f"{value:+.1%}" for value in gains) or "solved at the least"
    helps = bool(gains) and min(steps) > -0.02 and min(gains) >= NEAR
    return Finding(decide(helps, min(steps) < -0.1), numbers)


def one_pair(evidence: Evidence) -> Finding:
    """One attention layer against 1/K, and against the best guess from positions alone."""
    found = named(evidence, (ATTENTION,))
    over = [cell.choice.mean - cell.floor("1/K") for _, cell in found]
    gaps = [abs(gap) for gap in over]
    nearer = all(
        gap < abs(cell.choice.mean - cell.floor("position only")) for gap, (_, cell) in zip(gaps, found, strict=True)
    )
    guesses = all(cell.choice.mean >= CHANCE * cell.floor("1/K") for _, cell in found)
    floors = {f"1/K {cell.floor('1/K'):.1%}, position only {cell.floor('position only'):.1%}" for _, cell in found}
    word = decide(guesses and nearer and max(gaps) <= NEAR, max(over) > 2 * NEAR)
    return Finding(word, f"{show(found)}; {'; '.join(sorted(floors))}")


def wide_leads(evidence: Evidence) -> Finding:
    """The wide Mamba against the deep one; a study has one cell of each."""
    found = named(evidence, (WIDE, DEEP))
    if len(found) > 2:
        return Finding("open", f"several widths: {show(found)}")
    wide, deep = (cell.choice.mean for _, cell in found)
    return Finding(decide(wide >= SOLVES and wide - deep >= 0.3, wide <= deep and deep >= FAILS), show(found))


def shape_matters(evidence: Evidence) -> Finding:
    """Cells of about equal parameters and different shape: how far apart are they?"""
    gaps = {label: equal_parameters(evidence, label) for label in (ATTENTION, MAMBA)}
    if not all(gaps.values()):
        return Finding("open", "no two cells of a model have about equal parameters")
    apart = {label: max(found) for label, found in gaps.items()}
    means = [[cell.choice.mean for cell in evidence.of(label).values()] for label in gaps]
    telling = all(max(found) >= SOLVES > min(found) for found in means)
    numbers = "; ".join(f"{label}: at equal parameters up to {value:.1%} apart" for label, value in apart.items())
    learned = all(max(found) >= SOLVES for found in means)
    return Finding(decide(learned and min(apart.values()) >= 0.3, telling and max(apart.values()) < 0.1), numbers)


def equal_parameters(evidence: Evidence, label: str) -> list[float]:
    """The differences between any two cells of one task with about equal parameters."""
    gaps = []
    for (one, a), (other, b) in itertools.combinations(evidence.of(label).items(), 2):
        sizes = sorted(int((cell.records[0].result or {})["n_params"]) for cell in (a, b))
        if one.task == other.task and sizes[1] <= ALIKE * sizes[0]:
            gaps.append(abs(above_floor(a) - above_floor(b)))
    return gaps


def preferred_axes(evidence: Evidence) -> Finding:
    """Attention: depth over width. Recurrent models: width over depth."""
    gains = {(label, axis): gain(evidence, label, axis) for label in (ATTENTION, *RECURRENT) for axis in AXES}
    if any(map(math.isnan, gains.values())):
        return Finding("open", "one width or one depth only")
    lead = [gains[ATTENTION, "depth"] - gains[ATTENTION, "width"]]
    lead += [gains[label, "width"] - gains[label, "depth"] for label in RECURRENT]
    numbers = "; ".join(f"{label} {value:+.1%} from {axis}" for (label, axis), value in gains.items())
    tops = [best_mean(evidence, label) for label in (ATTENTION, *RECURRENT)]
    learned = min(tops) >= FAILS and max(tops) >= SOLVES
    return Finding(decide(learned and min(lead) >= NEAR, min(lead) <= -NEAR), numbers)


FAILS_EVERYWHERE = (
    "supported if every width stays below 50 % and is not rising where the rates end, and every seed below 90 %, while "
    "Mamba reaches 90 % at one, contradicted if one reaches 90 %"
)
CLAIMS = (
    Claim(
        number=12,
        statement="With one layer, more width always helps a recurrent model.",
        where="Fig 3",
        paper="always",
        study="fig3",
        rule="what is recalled beyond the position-only floor: supported if no step in width loses 2 % and every "
        "unsolved line, of which there is one, gains 5 %, contradicted if a step loses 10 %",
        version=3,
        test=Test(RECURRENT, width_helps),
    ),
    Claim(
        number=13,
        statement="One layer of attention fails at every width.",
        where="Fig 3",
        paper="fails",
        study="fig3",
        rule=FAILS_EVERYWHERE,
        version=4,
        test=with_control(at_most(ATTENTION), MAMBA),
    ),
    Claim(
        number=14,
        statement="One layer of Based fails likewise.",
        where="workshop version",
        paper="fails",
        study="fig12",
        rule=FAILS_EVERYWHERE,
        version=4,
        test=with_control(at_most(BASED), MAMBA),
    ),
    Claim(
        number=15,
        statement="One layer of attention recalls one pair on average: 1/K.",
        where="Sec 4",
        paper="1/K",
        study="fig3",
        rule="distance from 1/K: supported if within 5 %, nearer than the position-only floor and not below 0.8/K in "
        "every cell, contradicted if above it by 10 % in one",
        version=3,
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
        rule="cells within 1.5x in parameters, beyond the position-only floor: supported if 30 % apart for both "
        "models, each of which reaches 90 % somewhere, contradicted if under 10 % for both and each has cells that "
        "reach 90 % and cells that do not",
        version=3,
        test=Test((ATTENTION, MAMBA), shape_matters),
    ),
    Claim(
        number=18,
        statement="Recurrent models gain from width, attention from depth.",
        where="Fig 4",
        paper="opposite",
        study="fig4",
        rule="lead of the preferred axis in recall beyond the position-only floor: supported if >= 5 % for every "
        "model, each of which reaches 50 % and one 90 %, contradicted if one prefers the other by 5 %; open where an "
        "axis has one size",
        version=4,
        test=Test((ATTENTION, *RECURRENT), preferred_axes),
    ),
    Claim(
        number=19,
        statement="Copying at equal parameters: attention copies, a deep narrow Mamba does not, "
        "a wide shallow one does.",
        where="Table 1",
        paper="100, 16, 100 %",
        study="table1",
        rule="supported if attention and wide reach 90 % and wide leads deep by 30 %, "
        "contradicted if deep is level with wide and reaches 50 %",
        version=3,
        test=with_control(Test((DEEP, WIDE), wide_leads), ATTENTION),
    ),
)
