"""Claims 1 to 11: the learning rate (Figs 1, 2, 5, 11, 13)."""

import math

from recollect.claims.claim import Claim, Finding
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import RECURRENT, along, at_least, cells, decide, show, spread, wider_than, width
from recollect.spec.protocols import ZOOLOGY
from recollect.window.select import accuracy, choose


def outside(evidence: Evidence) -> Finding:
    """Test accuracy of the recurrent models at learning rates beyond the window's 90 % intervals."""
    found: list[float] = []
    for _, _, cell in cells(evidence, RECURRENT):
        window = cell.window
        low = window.lower.low if window.lower else math.inf
        high = window.upper.high if window.upper else math.inf
        found += [accuracy(run) for run in cell.records if not low <= math.log10(run.spec.train.lr) <= high]
    if not found:
        return Finding("open", "no learning rate lies surely outside of a window")
    mean = sum(found) / len(found)
    levels = sorted({f"1/K = {cell.floor('1/K'):.2f}" for _, _, cell in cells(evidence, RECURRENT)})
    numbers = f"mean test accuracy outside {mean:.1%} over {len(found)} runs; {', '.join(levels)}"
    return Finding(decide(mean <= 0.05, mean >= 0.1), numbers)


def missed(evidence: Evidence) -> Finding:
    """How many of Zoology's four rates lie in the windows of the recurrent models."""
    hit, surely = [], []
    for _, _, cell in cells(evidence, RECURRENT):
        window = cell.window
        if window.lower and window.upper:
            logs = [math.log10(lr) for lr in ZOOLOGY.lrs]
            hit.append(sum(window.lower.low <= x <= window.upper.high for x in logs))
            surely.append(sum(window.lower.high <= x <= window.upper.low for x in logs))
    if not hit:
        return Finding("open", "no recurrent model has a window")
    counts = ", ".join(f"{low} to {high}" for low, high in zip(surely, hit, strict=True))
    numbers = f"of Zoology's four rates inside the windows, surely to at most: {counts}"
    return Finding(decide(min(hit) == 0, min(surely) >= 1), numbers)


def finer(evidence: Evidence) -> Finding:
    """The best of all rates against the best of Zoology's four, for the recurrent models."""
    gains = []
    for _, _, cell in cells(evidence, RECURRENT):
        coarse = choose([run for run in cell.records if run.spec.train.lr in ZOOLOGY.lrs])
        if coarse is not None:
            gains.append(cell.choice.mean - coarse.mean)
    if not gains:
        return Finding("open", "no run at Zoology's learning rates")
    numbers = (
        f"gain of the finer grid: mean {sum(gains) / len(gains):+.1%}, least {min(gains):+.1%}, n={len(gains)} cells"
    )
    return Finding(decide(min(gains) > 0.01, sum(gains) / len(gains) < 0.01), numbers)


def longer_than_wide(evidence: Evidence) -> Finding:
    """Mamba in the cells whose length is at least twice the width."""
    named = ((evidence.name(label, place), place, cell) for label, place, cell in cells(evidence, ("mamba",)))
    found = [(name, cell) for name, place, cell in named if place.length >= 2 * place.d_model]
    if not found:
        return Finding("open", "no cell is at least twice as long as wide")
    means = [cell.choice.mean for _, cell in found]
    return Finding(decide(max(means) >= 0.9, max(means) < 0.5), show(found))


def trails(evidence: Evidence) -> Finding:
    """Hyena behind attention at the smallest width."""
    least = min(place.d_model for _, place, _ in cells(evidence, ("hyena",)))
    small = {
        label: [c for p, c in evidence.of(label).items() if p.d_model == least] for label in ("attention", "hyena")
    }
    means = {label: sum(c.choice.mean for c in found) / len(found) for label, found in small.items()}
    gap = means["attention"] - means["hyena"]
    numbers = f"at width {least}: attention {means['attention']:.1%}, hyena {means['hyena']:.1%}"
    return Finding(decide(gap >= 0.05, gap < 0.01), numbers)


def by_depth(evidence: Evidence, label: str) -> list[tuple[Cell, Cell]]:
    """The shallowest and the deepest cell of a model at every task and width."""
    return [(line[0], line[-1]) for line in along(evidence, label, "depth") if len(line) > 1]


def set_by_mixer(evidence: Evidence) -> Finding:
    """Mamba's window, shallow and deep."""
    pairs = by_depth(evidence, "mamba")
    widths = [(shallow.window.width, deep.window.width) for shallow, deep in pairs]
    known = [(one, other) for one, other in widths if one and other]
    numbers = "; ".join(f"mamba: {width(one)} shallow, {width(other)} deep" for one, other in pairs)
    if len(known) < len(widths) or not known:
        return Finding("open", f"not every depth has a window: {numbers}")
    near = all(abs(one.value - other.value) <= 0.5 for one, other in known)
    apart = any(one.low > other.high + 0.5 or other.low > one.high + 0.5 for one, other in known)
    return Finding(decide(near, apart), numbers)


def depth_brings_nothing(evidence: Evidence) -> Finding:
    """Deep against shallow, at the best learning rate of each."""
    pairs = [pair for label in ("attention", "mamba") for pair in by_depth(evidence, label)]
    gains = [deep.choice.mean - shallow.choice.mean for shallow, deep in pairs]
    numbers = "; ".join(f"shallow {spread(one)}, deep {spread(other)}" for one, other in pairs)
    return Finding(decide(max(gains) <= 0.01, max(gains) >= 0.05), numbers)


def robust(evidence: Evidence) -> Finding:
    """Attention under every switch of the protocol."""
    labels = [label for label in evidence.runs if label.startswith("attention")]
    return at_least(*labels)(evidence)


WIDER = "supported if P(wider) >= 0.95 against every other at every place, contradicted if <= 0.05 at one"
CLAIMS = (
    Claim(
        1,
        "Attention learns to recall over a wide range of learning rates, Mamba and Hyena over a narrow one.",
        "Fig 1",
        "wide, narrow",
        "fig1",
        ("attention", *RECURRENT),
        WIDER,
        wider_than("attention", *RECURRENT),
    ),
    Claim(
        2,
        "Outside of their window recurrent models score near zero.",
        "Sec 3",
        "near 0",
        "fig1",
        RECURRENT,
        "mean test accuracy outside the window: supported if <= 5 %, contradicted if >= 10 %",
        outside,
    ),
    Claim(
        3,
        "Zoology's grid of four learning rates can miss the window of a recurrent model.",
        "Fig 1",
        "missed",
        "fig1",
        RECURRENT,
        "supported if none of the four lies in one of the windows, contradicted if each surely holds one",
        missed,
    ),
    Claim(
        4,
        "A finer grid of learning rates improves recurrent models in all settings.",
        "Fig 2, Sec 3",
        "all settings",
        "fig2",
        RECURRENT,
        "gain over Zoology's rates: supported if > 1 % in every cell, contradicted if < 1 % on average",
        finer,
    ),
    Claim(
        5,
        "Two tuned layers of Mamba recall at lengths far above their width.",
        "Fig 2",
        "solved",
        "fig2",
        ("mamba",),
        "cells with L >= 2d: supported if one reaches 90 %, contradicted if all stay below 50 %",
        longer_than_wide,
    ),
    Claim(
        6,
        "Two layers of attention always recall, even the narrowest at the hardest setting.",
        "Fig 2, Sec 4",
        "100 %",
        "fig2",
        ("attention",),
        "supported if every cell reaches 99 %, contradicted if one stays below 90 %",
        at_least("attention", bar=0.99, below=0.9),
    ),
    Claim(
        7,
        "Hyena trails attention at small widths.",
        "Sec 4",
        "a sizable gap",
        "fig2",
        ("attention", "hyena"),
        "gap at the smallest width: supported if >= 5 %, contradicted if < 1 %",
        trails,
    ),
    Claim(
        8,
        "The window is set by the mixer and not by the depth.",
        "Fig 13",
        "alike at 12 layers",
        "fig13",
        ("mamba",),
        "supported if the widths are within 0.5 decades, contradicted if the intervals are further apart than that",
        set_by_mixer,
    ),
    Claim(
        9,
        "More than two layers bring nothing on recall.",
        "Sec 4",
        "saturated",
        "fig13",
        ("attention", "mamba"),
        "gain from depth: supported if at most 1 %, contradicted if one model gains 5 %",
        depth_brings_nothing,
    ),
    Claim(
        10,
        "Copying: the Transformer learns at many learning rates, Mamba at few.",
        "Fig 5",
        "wide, narrow",
        "fig5",
        ("attention", "mamba"),
        WIDER,
        wider_than("attention", "mamba"),
    ),
    Claim(
        11,
        "Transformers are robust to the choices of optimisation at large.",
        "abstract",
        "robust",
        "confounders",
        ("attention, as it is",),
        "supported if attention reaches 90 % under every switch, contradicted if it stays below 50 % under one",
        robust,
    ),
)
