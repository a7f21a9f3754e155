"""Claims 12 to 19: width and depth (Figs 3, 4, 12, Table 1)."""

import itertools

from recollect.claims.claim import Claim, Finding
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    FAILS,
    NEAR,
    RECURRENT,
    SOLVES,
    Axis,
    along,
    at_least,
    at_most,
    both,
    decide,
    named,
    show,
)

DEEP, WIDE = "mamba, deep", "mamba, wide"
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
    found = named(evidence, ("attention",))
    gaps = [abs(cell.choice.mean - cell.floor("1/K")) for _, cell in found]
    floors = {f"1/K {cell.floor('1/K'):.1%}, position only {cell.floor('position only'):.1%}" for _, cell in found}
    return Finding(decide(max(gaps) <= NEAR, max(gaps) > 2 * NEAR), f"{show(found)}; {'; '.join(sorted(floors))}")


def tuned(evidence: Evidence) -> Finding:
    """One Mamba layer at its largest width."""
    found = named(evidence, ("mamba",))
    best = max(cell.choice.mean for _, cell in found)
    return Finding(decide(best >= SOLVES, best < FAILS), show(found))


def wide_leads(evidence: Evidence) -> Finding:
    """The wide Mamba against the deep one; a study has one cell of each."""
    found = named(evidence, (WIDE, DEEP))
    wide, deep = (cell.choice.mean for _, cell in found)
    return Finding(decide(wide - deep >= 0.3, wide < deep), show(found))


def shape_matters(evidence: Evidence) -> Finding:
    """Cells of about equal parameters and different shape: how far apart are they?"""
    gaps = {label: equal_parameters(evidence, label) for label in ("attention", "mamba")}
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
    gains = {(label, axis): gain(evidence, label, axis) for label in ("attention", *RECURRENT) for axis in AXES}
    lead = [gains["attention", "depth"] - gains["attention", "width"]]
    lead += [gains[label, "width"] - gains[label, "depth"] for label in RECURRENT]
    numbers = "; ".join(f"{label} {value:+.1%} from {axis}" for (label, axis), value in gains.items())
    return Finding(decide(min(lead) >= NEAR, min(lead) <= -NEAR), numbers)


CLAIMS = (
    Claim(
        12,
        "With one layer, more width always helps a recurrent model.",
        "Fig 3",
        "always",
        "fig3",
        RECURRENT,
        "supported if no step in width loses 2 % and every unsolved line gains 5 %, contradicted if a step loses 10 %",
        width_helps,
    ),
    Claim(
        13,
        "One layer of attention fails at every width.",
        "Fig 3",
        "fails",
        "fig3",
        ("attention",),
        "supported if every width stays below 50 %, contradicted if one reaches 90 %",
        at_most("attention"),
    ),
    Claim(
        14,
        "One layer of Based fails likewise.",
        "workshop version",
        "fails",
        "fig12",
        ("based",),
        "supported if every width stays below 50 %, contradicted if one reaches 90 %",
        at_most("based"),
    ),
    Claim(
        15,
        "One layer of attention recalls one pair on average: 1/K.",
        "Sec 4",
        "1/K",
        "fig3",
        ("attention",),
        "distance from 1/K: supported if within 5 % in every cell, contradicted if beyond 10 % in one",
        one_pair,
    ),
    Claim(
        16,
        "One layer of Mamba recalls when its learning rate is tuned.",
        "Sec 6",
        "solved",
        "fig3",
        ("mamba",),
        "supported if a width reaches 90 %, contradicted if all stay below 50 %",
        tuned,
    ),
    Claim(
        17,
        "How a model is scaled matters more than how many parameters it has.",
        "Fig 4",
        "the strategy decides",
        "fig4",
        ("attention", "mamba"),
        "cells within 1.5x in parameters: supported if 30 % apart for both models, contradicted if under 10 % for both",
        shape_matters,
    ),
    Claim(
        18,
        "Recurrent models gain from width, attention from depth.",
        "Fig 4",
        "opposite",
        "fig4",
        ("attention", *RECURRENT),
        "lead of the preferred axis: supported if >= 5 % for every model, contradicted if one prefers the other by 5 %",
        preferred_axes,
    ),
    Claim(
        19,
        "Copying at equal parameters: attention copies, a deep narrow Mamba does not, a wide shallow one does.",
        "Table 1",
        "100, 16, 100 %",
        "table1",
        ("attention", DEEP, WIDE),
        "supported if attention reaches 90 % and wide leads deep by 30 %, contradicted if deep is level with wide",
        both(at_least("attention"), wide_leads),
    ),
)
