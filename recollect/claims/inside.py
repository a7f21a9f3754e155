"""Claims 22, 26, 40 and 41: phases of curves, and what was seen inside models while they trained."""

import math
import statistics
from collections.abc import Callable, Sequence

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.dynamics import BUMP, best, curve
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import NEAR, SOLVES, decide, spread, with_control
from recollect.inside.phases import LEAST, Transition, ladder, lag, phases, rise
from recollect.inside.scores import strongest
from recollect.store import Record
from recollect.studies.models import ATTENTION, DELTANET, MAMBA, MAMBA2, TWO_LAYERS

FORMED, ABSENT = 0.5, 0.2
TOGETHER, APART = 0.1, 0.25
HALF, WHOLE = 0.5, 1.0
EXACT, WRONG = 1e-4, 1e-2
GUESSES = ("ln K", "position only")


def looked(labels: Sequence[str], find: Callable[[dict[str, Cell]], Finding]) -> Test:
    """A test on the best cells of these models; open where nobody looked into one of their runs."""

    def found(evidence: Evidence) -> Finding:
        cells = {label: best(evidence, label) for label in labels}
        unseen = [label for label, cell in cells.items() if not all(run.looks for run in cell.chosen)]
        if unseen:
            return Finding("open", f"nobody looked into the runs of {', '.join(unseen)}; run the study with --probe")
        return find(cells)

    return Test(tuple(labels), found)


def numbers(run: Record, name: str) -> dict[int, float]:
    """Step -> a number that was seen."""
    return {step: float(value) for step, value in run.looks[name].items()}


def forming(run: Record) -> tuple[float, float]:
    """The largest induction score, and how far its rise is from that of the accuracy, in budgets; infinite if one
    of them does not rise."""
    assert run.result is not None
    curves, scores = run.result["curves"], strongest(run.looks, run.spec.model.n_layers)
    apart = lag(rise(curves["step"], curves["validation_accuracy"]), rise([*scores], [*scores.values()]))
    return max(scores.values()), math.inf if apart is None else abs(apart) / run.spec.train.steps


def no_resemblance(cells: dict[str, Cell]) -> Finding:
    """Mamba against two attention layers."""
    seen = {label: [forming(run) for run in cell.chosen] for label, cell in cells.items()}
    told = "; ".join(
        f"{label} {spread(cells[label])}, induction at most {', '.join(f'{score:.2f}' for score, _ in found)}, "
        f"{', '.join(f'{apart:.2f}' for _, apart in found)} budgets from the accuracy"
        for label, found in seen.items()
    )
    solved = all(cell.choice.mean >= SOLVES for cell in cells.values())
    control = all(score >= FORMED and apart <= TOGETHER for score, apart in seen[TWO_LAYERS])
    if not (solved and control):
        return Finding("open", f"{told}; both have to recall, and the control has to form a head")
    other = all(score <= ABSENT or apart >= APART for score, apart in seen[MAMBA])
    return Finding(decide(other, all(score >= FORMED and apart <= TOGETHER for score, apart in seen[MAMBA])), told)


def fades(cells: dict[str, Cell]) -> Finding:
    """Mamba and Mamba2 against DeltaNet, in rows."""
    mixing = {label: lengths(cell, "0 length") for label, cell in cells.items()}
    gradient = {label: lengths(cell, "gradient length") for label, cell in cells.items()}
    told = "; ".join(
        f"{label} {spread(cell)}, mixing {mixing[label]:.2f} rows, gradient {gradient[label]:.2f}"
        for label, cell in cells.items()
    )
    if any(cell.choice.mean < SOLVES for cell in cells.values()):
        return Finding("open", f"{told}; all have to recall")
    short = max(found[label] for found in (mixing, gradient) for label in (MAMBA, MAMBA2)) < HALF
    long = min(mixing[DELTANET], gradient[DELTANET]) >= WHOLE
    against = max(mixing[MAMBA], mixing[MAMBA2]) >= WHOLE or mixing[DELTANET] < HALF
    return Finding(decide(short and long, against), told)


def lengths(cell: Cell, name: str) -> float:
    """The median of fitted lengths at the end of training, in rows."""
    found = [[*numbers(run, name).values()][-1] / run.spec.task.length for run in cell.chosen]
    return statistics.median(found)


def identity(cells: dict[str, Cell]) -> Finding:
    """The largest error of M v against the layer's output, at every look into every run."""
    errors = {
        label: max(max(numbers(run, "0 identity").values()) for run in cell.chosen) for label, cell in cells.items()
    }
    told = "; ".join(f"{label} {error:.1e} of the largest output" for label, error in errors.items())
    return Finding(decide(max(errors.values()) <= EXACT, max(errors.values()) > WRONG), told)


def bump_without_gain(evidence: Evidence) -> Finding:
    """One attention layer: does its loss fall from a plateau to guessing among the values, and no further?"""
    cell = best(evidence, ATTENTION)
    floor = cell.floor("position only")
    bumps = [bump_of(run, floor) for run in cell.chosen]
    beyond = cell.choice.mean - floor
    at_floor = abs(beyond) <= NEAR
    fell = all(bump is not None for bump in bumps)
    if not any(bumps) and any(map(falls_unseen, cell.chosen)):
        return Finding(
            "open", f"{ATTENTION} {spread(cell)}: the loss fell before the first evaluation, which came late"
        )
    ways = ", ".join(f"{bump.before:.2f} to {bump.after:.2f} at step {bump.t50:.0f}" for bump in bumps if bump)
    told = f"{ATTENTION} {spread(cell)}, floor {floor:.1%}; falls {ways or 'from no plateau'}"
    return Finding(decide(fell and at_floor, beyond > NEAR or (at_floor and not any(bumps))), told)


def falls_unseen(run: Record) -> bool:
    """Whether the loss fell before the first evaluation after the start, and that came too late to see a plateau."""
    (first, second), steps = curve(run, "validation_loss")[:2], curve(run, "step")
    return first - second >= BUMP and steps[1] - steps[0] > LEAST * (steps[-1] - steps[0])


def bump_of(run: Record, floor: float) -> Transition | None:
    """The fall of a run between two plateaus of its task, to guessing among the values, without accuracy."""
    assert run.result is not None
    rungs = ladder(run.spec)
    bump = phases(run.result["curves"], rungs, floor).bump
    return bump if bump is not None and bump.after in [rungs[name] for name in GUESSES] else None


CLAIMS = (
    Claim(
        number=22,
        statement="The loss of one attention layer breaks its plateau without a gain in accuracy.",
        where="Fig 6",
        paper="bump, no gain",
        study="fig6",
        rule="supported if with every seed the loss falls by 0.3 from one plateau of the task to ln K or to the best "
        "guess from positions, and accuracy ends within 5 % of the position-only floor, while two layers recall 90 %; "
        "contradicted if it ends there without such a fall, or above; open where it fell before a first "
        "evaluation that came after 2 % of the steps",
        version=4,
        test=with_control(Test((ATTENTION,), bump_without_gain), TWO_LAYERS),
    ),
    Claim(
        number=26,
        statement="Mamba's dynamics do not resemble the forming of induction heads.",
        where="abstract",
        paper="no resemblance",
        study="inside",
        rule="where Mamba and two attention layers recall 90 %, and a head of the latter reads half of what it reads "
        "at the answer or right behind it, its rise within a tenth of the budget of the accuracy's: supported if no "
        "channel of Mamba reads more than 20 % there, or its rise is a quarter of the budget apart, contradicted if "
        "one reads half, within a tenth",
        version=3,
        test=looked((MAMBA, TWO_LAYERS), no_resemblance),
    ),
    Claim(
        number=40,
        statement="Mamba's and Mamba2's mixing decays with distance and their gradients vanish; DeltaNet's need not.",
        where="Sec 7",
        paper="hypothesis",
        study="inside",
        rule="where all recall 90 %, the fitted lengths of trained mixing and of the gradient, in rows: supported if "
        "below a half for Mamba and Mamba2 and at least 1 for DeltaNet, contradicted if the mixing of one of the "
        "former has 1 or DeltaNet's less than a half",
        version=2,
        test=looked((MAMBA, MAMBA2, DELTANET), fades),
    ),
    Claim(
        number=41,
        statement="A state-space model is a mixing matrix applied to its values.",
        where="eq. 1",
        paper="an identity",
        study="inside",
        rule="the largest error of matrix times values against the layer's output, at every look: supported if at most "
        "1e-4 of the largest output, contradicted if above 1e-2",
        version=2,
        test=looked((MAMBA, MAMBA2), identity),
    ),
)
