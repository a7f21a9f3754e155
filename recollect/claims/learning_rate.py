"""Claims 1 to 11: the learning rate (Figs 1, 2, 5, 11, 13)."""

import math

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import (
    FAILS,
    RECURRENT,
    SOLVES,
    SURE,
    WIDER,
    above_floor,
    along,
    at_least,
    cells,
    decide,
    has_window,
    is_rising,
    show,
    spread,
    wider_than,
    width,
)
from recollect.spec.protocols import ZOOLOGY
from recollect.studies.confounders import SWITCHES
from recollect.studies.models import ATTENTION, HYENA, MAMBA
from recollect.studies.switches import AS_IT_IS, switched, under
from recollect.window import surely_alike
from recollect.window.select import accuracy, choose, for_window, zoologys


def outside(evidence: Evidence) -> Finding:
    """Test accuracy of the recurrent models at learning rates beyond the 90 % intervals of a window that they have."""
    found: dict[str, list[float]] = {f"{label} {side}": [] for label in RECURRENT for side in ("below", "above")}
    for label, _, cell in cells(evidence, RECURRENT):
        lower, upper = cell.window.lower, cell.window.upper
        low, high = (lower.low, upper.high) if lower and upper and has_window(cell) else (-math.inf, math.inf)
        for run in for_window(cell.records):
            x = math.log10(run.spec.train.lr)
            if not low <= x <= high:
                found[f"{label} {'below' if x < low else 'above'}"].append(accuracy(run))
    runs = [one for side in found.values() for one in side]
    if not runs:
        return Finding("open", "no learning rate lies surely outside of a window")
    mean = sum(runs) / len(runs)
    levels = sorted({f"1/K = {cell.floor('1/K'):.2f}" for _, _, cell in cells(evidence, RECURRENT)})
    missing = [side for side, there in found.items() if not there]
    numbers = f"mean test accuracy outside {mean:.1%} over {len(runs)} runs; {', '.join(levels)}"
    numbers += f"; none surely outside: {', '.join(missing)}" * bool(missing)
    return Finding(decide(mean <= 0.05 and not missing, mean >= 0.1), numbers)


def missed(evidence: Evidence) -> Finding:
    """How many of Zoology's four rates lie in the windows of the recurrent models."""
    hit, surely = [], []
    for _, _, cell in cells(evidence, RECURRENT):
        window = cell.window
        if window.lower and window.upper and has_window(cell):
            logs = [math.log10(lr) for lr in ZOOLOGY.lrs]
            logs = [x for x in logs if not any(low <= x <= high for low, high in window.holes)]
            hit.append(sum(window.lower.low <= x <= window.upper.high for x in logs))
            surely.append(sum(window.lower.high <= x <= window.upper.low for x in logs))
    if not hit:
        return Finding("open", "no recurrent model has a window")
    counts = ", ".join(f"{low} to {high}" for low, high in zip(surely, hit, strict=True))
    numbers = f"of Zoology's four rates inside the windows, surely to at most: {counts}"
    return Finding(decide(min(hit) == 0, min(surely) >= 1), numbers)


def finer(evidence: Evidence) -> Finding:
    """The best of all rates against the best of Zoology's four, for the recurrent models, where they learn."""
    gains, every, at_edge = [], list(cells(evidence, RECURRENT)), 0
    for _, _, cell in every:
        coarse = choose(zoologys(cell.records), evidence.select)
        if coarse is None:
            return Finding("open", "a cell lacks runs at Zoology's four learning rates")
        if len(coarse.seeds) < len(cell.choice.seeds):
            return Finding("open", "a cell lacks seeds at the best of Zoology's four learning rates")
        if cell.choice.mean >= FAILS:
            gains.append(cell.choice.mean - coarse.mean)
            rates = [run.spec.train.lr for run in cell.records]
            at_edge += cell.choice.lr in (min(rates), max(rates))
    if not gains:
        return Finding("open", "no recurrent model learns at any rate")
    mean = sum(gains) / len(gains)
    numbers = f"gain of the finer grid: mean {mean:+.1%}, least {min(gains):+.1%}, "
    numbers += f"{len(gains)} of {len(every)} cells learn"
    numbers += f"; the best rate of {at_edge} is the last that was tried" * bool(at_edge)
    return Finding(decide(len(gains) == len(every) and min(gains) > 0.01, mean < 0.01 and not at_edge), numbers)


def longer_than_wide(evidence: Evidence) -> Finding:
    """Mamba in the cells whose length is at least twice the width."""
    long = [(place, cell) for place, cell in evidence.of(MAMBA).items() if place.length >= 2 * place.d_model]
    found = [(evidence.name(MAMBA, place), cell) for place, cell in long]
    if not found:
        return Finding("open", "no cell is at least twice as long as wide")
    means = [cell.choice.mean for _, cell in found]
    return Finding(decide(max(means) >= 0.9, max(means) < 0.5), show(found))


def trails(evidence: Evidence) -> Finding:
    """Hyena behind attention at the smallest width."""
    least = min(place.d_model for _, place, _ in cells(evidence, (ATTENTION, HYENA)))
    small = {label: [c for p, c in evidence.of(label).items() if p.d_model == least] for label in (ATTENTION, HYENA)}
    if not all(small.values()):
        return Finding("open", f"only one of them has the width {least}")
    means = {label: sum(c.choice.mean for c in found) / len(found) for label, found in small.items()}
    gap = means[ATTENTION] - means[HYENA]
    shown = ", ".join(f"{label} {mean:.1%}" for label, mean in means.items())
    ahead = any(is_rising(cell, means[ATTENTION] - 0.05) for cell in small[HYENA])
    supported, contradicted = (
        gap >= 0.05 and means[ATTENTION] >= SOLVES and not ahead,
        gap < 0.01 and means[HYENA] >= SOLVES,
    )
    return Finding(decide(supported, contradicted), f"at width {least}: {shown}")


def by_depth(evidence: Evidence, label: str) -> list[tuple[Cell, Cell]]:
    """The shallowest and the deepest cell of a model at every task and width."""
    return [(line[0], line[-1]) for line in along(evidence, label, "depth") if len(line) > 1]


def set_by_mixer(evidence: Evidence) -> Finding:
    """Mamba's window, shallow and deep."""
    pairs = by_depth(evidence, MAMBA)
    widths = [(shallow.window.width, deep.window.width) for shallow, deep in pairs]
    known = [(one, other) for one, other in widths if one and other]
    sure = all(has_window(cell) for pair in pairs for cell in pair)
    holes = any(cell.window.holes for pair in pairs for cell in pair)
    numbers = "; ".join(f"{MAMBA}: {width(one)} shallow, {width(other)} deep" for one, other in pairs)
    if not known or not sure:
        return Finding("open", f"not every depth has a window that is sure, and 90 % at its best rate: {numbers}")
    near = all(surely_alike(shallow.window, deep.window, 0.5) >= SURE for shallow, deep in pairs)
    apart = any(one.low > other.high + 0.5 or other.low > one.high + 0.5 for one, other in known)
    return Finding(decide(near, apart and not holes), numbers)


def depth_brings_nothing(evidence: Evidence) -> Finding:
    """Deep against shallow, at the best learning rate of each."""
    pairs = [pair for label in (ATTENTION, MAMBA) for pair in by_depth(evidence, label)]
    if not pairs:
        return Finding("open", "one depth only")
    gains = [deep.choice.mean - shallow.choice.mean for shallow, deep in pairs]
    beyond = [above_floor(deep) - above_floor(shallow) for shallow, deep in pairs]
    numbers = "; ".join(f"shallow {spread(one)}, deep {spread(other)}" for one, other in pairs)
    learned = all(cell.choice.mean >= SOLVES for pair in pairs for cell in pair)
    return Finding(decide(learned and max(gains) <= 0.01, max(beyond) >= 0.05), numbers)


def robust(evidence: Evidence) -> Finding:
    """Attention under every switch of the protocol."""
    labels = switched(SWITCHES, ATTENTION)
    return at_least(*(label for label in evidence.runs if label in labels)).find(evidence)


CLAIMS = (
    Claim(
        number=1,
        statement="Attention learns to recall over a wide range of learning rates, Mamba and Hyena over a narrow one.",
        where="Fig 1",
        paper="wide, narrow",
        study="fig1",
        rule=WIDER,
        version=4,
        test=wider_than(ATTENTION, *RECURRENT),
    ),
    Claim(
        number=2,
        statement="Outside of their window recurrent models score near zero.",
        where="Sec 3",
        paper="near 0",
        study="fig1",
        rule="mean test accuracy outside the windows that they have, sure (P >= 0.9) and 90 % at the best rate: "
        "supported if <= 5 %, with runs on both sides of each model's, contradicted if >= 10 %",
        version=4,
        test=Test(RECURRENT, outside),
    ),
    Claim(
        number=3,
        statement="Zoology's grid of four learning rates can miss the window of a recurrent model.",
        where="Fig 1",
        paper="missed",
        study="fig1",
        rule="of windows that are sure (P >= 0.9) and 90 % at the best rate: supported if none of the four lies in one "
        "of them, holes apart, contradicted if each surely holds one",
        version=3,
        test=Test(RECURRENT, missed),
    ),
    Claim(
        number=4,
        statement="A finer grid of learning rates improves recurrent models in all settings.",
        where="Fig 2, Sec 3",
        paper="all settings",
        study="fig2",
        rule="gain over the best of Zoology's four rates, with as many seeds, in cells that reach 50 %: supported if "
        "all do and gain > 1 %, contradicted if < 1 % on average and no best rate is the last that was tried",
        version=5,
        test=Test(RECURRENT, finer),
    ),
    Claim(
        number=5,
        statement="Two tuned layers of Mamba recall at lengths far above their width.",
        where="Fig 2",
        paper="solved",
        study="fig2",
        rule="cells with L >= 2d: supported if one reaches 90 %, contradicted if all stay below 50 %",
        test=Test((MAMBA,), longer_than_wide),
    ),
    Claim(
        number=6,
        statement="Two layers of attention always recall, even the narrowest at the hardest setting.",
        where="Fig 2, Sec 4",
        paper="100 %",
        study="fig2",
        rule="supported if every cell reaches 99 %, contradicted if one stays below 90 %",
        test=at_least(ATTENTION, bar=0.99, below=0.9),
    ),
    Claim(
        number=7,
        statement="Hyena trails attention at small widths.",
        where="Sec 4",
        paper="a sizable gap",
        study="fig2",
        rule="gap at the smallest width: supported if >= 5 %, attention reaches 90 % and Hyena is not "
        "rising where the rates end, contradicted if < 1 % and Hyena reaches 90 %",
        version=3,
        test=Test((ATTENTION, HYENA), trails),
    ),
    Claim(
        number=8,
        statement="The window is set by the mixer and not by the depth.",
        where="Fig 13",
        paper="alike at 12 layers",
        study="fig13",
        rule="each depth needs a window that is sure (P >= 0.9) and 90 % at its best rate: supported if widths and "
        "middles are each within 0.5 decades with P >= 0.95, contradicted if the intervals of the widths are further "
        "apart than that; open where one has a hole",
        version=5,
        test=Test((MAMBA,), set_by_mixer),
    ),
    Claim(
        number=9,
        statement="More than two layers bring nothing on recall.",
        where="Sec 4",
        paper="saturated",
        study="fig13",
        rule="gain from depth: supported if at most 1 % and both depths reach 90 %, "
        "contradicted if one model gains 5 % beyond the position-only floor",
        version=4,
        test=Test((ATTENTION, MAMBA), depth_brings_nothing),
    ),
    Claim(
        number=10,
        statement="Copying: the Transformer learns at many learning rates, Mamba at few.",
        where="Fig 5",
        paper="wide, narrow",
        study="fig5",
        rule=WIDER,
        version=4,
        test=wider_than(ATTENTION, MAMBA),
    ),
    Claim(
        number=11,
        statement="Transformers are robust to the choices of optimisation at large.",
        where="abstract",
        paper="robust",
        study="confounders",
        rule="supported if attention reaches 90 % under every switch, contradicted if it stays below 50 % under one; "
        "every run is to be done, with three seeds under each",
        version=2,
        test=Test((under(ATTENTION, AS_IT_IS),), robust, also=tuple(switched(SWITCHES, ATTENTION))),
    ),
)
