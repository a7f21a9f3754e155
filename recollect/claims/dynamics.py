"""Claims 20 to 27: what training looks like (Fig 6).

A drop is the fall of the validation loss between two evaluations that are a tenth of the budget apart. A bump is a drop
of at least 0.3 nats after the first tenth: a plateau that breaks.
"""

import math
import statistics
from collections.abc import Sequence

from recollect.claims.claim import Claim, Finding
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import FAILS, NEAR, SOLVES, Test, cells, decide, not_measured, spread
from recollect.store import Record

BUMP = 0.3
TWO = "attention, 2 layers"


def curve(run: Record, name: str) -> list[float]:
    """A curve of a finished run; a value that is not finite is NaN."""
    assert run.result is not None
    return [math.nan if value is None else float(value) for value in run.result["curves"][name]]


def drops(run: Record) -> list[tuple[float, float]]:
    """(Fall of the loss, rise of the accuracy) over every tenth of the budget, the first tenth left out."""
    steps, tenth = curve(run, "step"), run.spec.train.steps / 10
    loss, right = curve(run, "validation_loss"), curve(run, "validation_accuracy")
    found = []
    for i, start in enumerate(steps):
        ahead = [j for j, step in enumerate(steps) if 0 < step - start <= tenth]
        if start >= tenth and ahead:
            found.append((loss[i] - loss[ahead[-1]], right[ahead[-1]] - right[i]))
    return found or [(0.0, 0.0)]


def bump(runs: Sequence[Record]) -> float:
    """The largest drop, on average over the seeds."""
    return sum(max(fall for fall, _ in drops(run)) for run in runs) / len(runs)


def jump(runs: Sequence[Record]) -> float:
    """The largest rise of the accuracy over a tenth of the budget, on average over the seeds."""
    return sum(max(rise for _, rise in drops(run)) for run in runs) / len(runs)


def together(runs: Sequence[Record]) -> float:
    """The correlation of falling loss and rising accuracy along the curve, on average over the seeds."""
    return sum(_correlation(curve(run, "validation_loss"), curve(run, "validation_accuracy")) for run in runs) / len(
        runs
    )


def _correlation(loss: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's, with the sign of the loss turned; 0 where one of them does not move or is not finite."""
    try:
        found = statistics.correlation(loss, right)
    except statistics.StatisticsError:
        return 0.0
    return -found if math.isfinite(found) else 0.0


def best(evidence: Evidence, label: str) -> Cell:
    """The narrowest cell of a model that recalls, else its widest."""
    found = sorted(evidence.of(label).items())
    return next((cell for _, cell in found if cell.choice.mean >= SOLVES), found[-1][1])


def describe(label: str, cell: Cell) -> str:
    """The numbers that the claims look at."""
    runs = cell.chosen
    return f"{label} {spread(cell)}, drop {bump(runs):.2f}, jump {jump(runs):.2f}, together {together(runs):.2f}"


def smooth(*labels: str) -> Test:
    """Loss and accuracy move together and never jump."""

    def test(evidence: Evidence) -> Finding:
        found = {label: best(evidence, label) for label in labels}
        jumps = [jump(cell.chosen) for cell in found.values()]
        ties = [together(cell.chosen) for cell in found.values()]
        word = decide(max(jumps) <= 0.3 and min(ties) >= 0.9, max(jumps) >= 0.5)
        return Finding(word, "; ".join(describe(label, cell) for label, cell in found.items()))

    return test


def bump_without_gain(evidence: Evidence) -> Finding:
    """One attention layer."""
    cell = best(evidence, "attention")
    at_floor = cell.choice.mean <= cell.floor("position only") + NEAR
    has_bump = bump(cell.chosen) >= BUMP
    return Finding(decide(has_bump and at_floor, not has_bump or not at_floor), describe("attention", cell))


def bump_with_gain(label: str) -> Test:
    """The loss breaks and the model recalls."""

    def test(evidence: Evidence) -> Finding:
        cell = best(evidence, label)
        solves, has_bump = cell.choice.mean >= SOLVES, bump(cell.chosen) >= BUMP
        return Finding(decide(solves and has_bump, cell.choice.mean < FAILS or not has_bump), describe(label, cell))

    return test


def cannot_fit(evidence: Evidence) -> Finding:
    """One attention layer on its own training rows."""
    runs = best(evidence, "attention").chosen
    fits = [curve(run, "train_accuracy")[-1] for run in runs]
    numbers = f"train accuracy at the end {', '.join(f'{value:.1%}' for value in fits)}"
    return Finding(decide(max(fits) < FAILS, max(fits) >= SOLVES), numbers)


def needs_width(evidence: Evidence) -> Finding:
    """Cells that are no wider than long: Hyena should fail there, Mamba recall."""
    narrow = {
        label: [cell for _, place, cell in cells(evidence, (label,)) if place.d_model <= place.length]
        for label in ("hyena", "mamba")
    }
    if not all(narrow.values()):
        return Finding("open", "no cell is as narrow as its sequence is long")
    top = {label: max(cell.choice.mean for cell in found) for label, found in narrow.items()}
    numbers = f"at widths up to the length: hyena at best {top['hyena']:.1%}, mamba {top['mamba']:.1%}"
    return Finding(
        decide(top["hyena"] < SOLVES <= top["mamba"], top["hyena"] >= SOLVES or top["mamba"] < FAILS), numbers
    )


SMOOTH = (
    "supported if no tenth of the budget gains over 30 % and loss and accuracy correlate by 0.9, "
    "contradicted if one gains 50 %"
)
BREAK = (
    "supported if it reaches 90 % and the loss drops by 0.3 within a tenth of the budget, "
    "contradicted if below 50 % or no drop"
)
CLAIMS = (
    Claim(
        20,
        "Hyena learns smoothly: loss and accuracy move together.",
        "Fig 6",
        "smooth",
        "fig6",
        ("hyena",),
        SMOOTH,
        smooth("hyena"),
    ),
    Claim(
        21,
        "H3 and RWKV learn smoothly too.",
        "workshop version",
        "smooth",
        "fig6",
        ("h3", "rwkv4"),
        SMOOTH,
        smooth("h3", "rwkv4"),
    ),
    Claim(
        22,
        "The loss of one attention layer breaks its plateau without a gain in accuracy.",
        "Fig 6",
        "bump, no gain",
        "fig6",
        ("attention",),
        "supported if the loss drops by 0.3 within a tenth of the budget and accuracy stays within 5 % of the "
        "position-only floor, else contradicted",
        bump_without_gain,
    ),
    Claim(
        23,
        "With two attention layers that break brings the accuracy.",
        "Sec 6",
        "gain",
        "fig6",
        (TWO,),
        BREAK,
        bump_with_gain(TWO),
    ),
    Claim(
        24,
        "One attention layer cannot even fit its training rows.",
        "Sec 1",
        "cannot",
        "fig6",
        ("attention",),
        "train accuracy at the end: supported if below 50 %, contradicted if it reaches 90 %",
        cannot_fit,
    ),
    Claim(
        25,
        "The loss of one Mamba layer breaks its plateau, and it recalls.",
        "Fig 6",
        "bump, solved",
        "fig6",
        ("mamba",),
        BREAK,
        bump_with_gain("mamba"),
    ),
    Claim(
        26,
        "Mamba's dynamics do not resemble the forming of induction heads.",
        "abstract",
        "no resemblance",
        "fig6",
        ("mamba",),
        "needs scores of induction heads along training, which no run keeps yet",
        not_measured("needs scores of induction heads along training"),
    ),
    Claim(
        27,
        "Hyena needs a width above the length, Mamba does not.",
        "Fig 6",
        "needs d > L",
        "fig6",
        ("hyena", "mamba"),
        "at widths up to the length: supported if Mamba reaches 90 % and Hyena does not, "
        "contradicted if Hyena does or Mamba stays below 50 %",
        needs_width,
    ),
)
