"""Claims 20, 21, 23 to 25 and 27: what training looks like (Fig 6).

A drop is the fall of the validation loss between two evaluations that are a tenth of the budget apart, a jump the rise
of the accuracy. A bump is a drop of at least 0.3 nats after the first tenth: a plateau that breaks.
"""

import math
import statistics
from collections.abc import Sequence

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import FAILS, SOLVES, cells, decide, spread, with_control
from recollect.store import Record
from recollect.studies.models import ATTENTION, H3, HYENA, MAMBA, RWKV4, TWO_LAYERS
from recollect.window.select import narrowest

BUMP = 0.3


def curve(run: Record, name: str) -> list[float]:
    """A curve of a finished run; a value that is not finite is NaN."""
    assert run.result is not None
    return [math.nan if value is None else float(value) for value in run.result["curves"][name]]


def tenths(run: Record) -> list[tuple[int, int]]:
    """The first and the last evaluation of every stretch of a tenth of the budget."""
    steps, tenth = curve(run, "step"), run.spec.train.steps / 10
    ahead = [[j for j, step in enumerate(steps) if 0 < step - start <= tenth] for start in steps]
    return [(i, behind[-1]) for i, behind in enumerate(ahead) if behind]


def drops(run: Record) -> list[float]:
    """The fall of the loss over every tenth of the budget, the first left out: there it leaves its start."""
    steps, loss = curve(run, "step"), curve(run, "validation_loss")
    return [loss[i] - loss[j] for i, j in tenths(run) if steps[i] >= run.spec.train.steps / 10]


def unseen(cell: Cell) -> bool:
    """Whether evaluations stand too far apart, or a run ended too soon, to tell how it went from tenth to tenth."""
    return not all(map(drops, cell.chosen))


def bump(runs: Sequence[Record]) -> float:
    """The largest drop, on average over the seeds."""
    return sum(max(drops(run), default=math.nan) for run in runs) / len(runs)


def jump(runs: Sequence[Record]) -> float:
    """The largest rise of the accuracy over a tenth of the budget, on average over the seeds."""
    rights = [(curve(run, "validation_accuracy"), tenths(run)) for run in runs]
    return sum(max((right[j] - right[i] for i, j in found), default=math.nan) for right, found in rights) / len(runs)


def early(run: Record) -> bool:
    """Whether a run had learned before the first tenth of the budget was over: a break before that is not counted."""
    steps, right = curve(run, "step"), curve(run, "validation_accuracy")
    return any(step <= run.spec.train.steps / 10 and share >= FAILS for step, share in zip(steps, right, strict=True))


def together(runs: Sequence[Record]) -> float:
    """The correlation of falling loss and rising accuracy along the curve, on average over the seeds."""
    ties = [_correlation(curve(run, "validation_loss"), curve(run, "validation_accuracy")) for run in runs]
    return sum(ties) / len(ties)


def _correlation(loss: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's, with the sign of the loss turned; 0 where one of them does not move or is not finite."""
    try:
        found = statistics.correlation(loss, right)
    except statistics.StatisticsError:
        return 0.0
    return -found if math.isfinite(found) else 0.0


def best(evidence: Evidence, label: str) -> Cell:
    """The narrowest cell of a model that recalls, else its widest."""
    found = {cell.records[0].cell: cell for cell in evidence.of(label).values()}
    return found[narrowest([run for cell in found.values() for run in cell.records], evidence.select)[0].cell]


def describe(label: str, cell: Cell) -> str:
    """The numbers that the claims look at."""
    runs = cell.chosen
    return f"{label} {spread(cell)}, drop {bump(runs):.2f}, jump {jump(runs):.2f}, together {together(runs):.2f}"


def smooth(*labels: str) -> Test:
    """Loss and accuracy move together and never jump, in a model that learns."""

    def find(evidence: Evidence) -> Finding:
        found = {label: best(evidence, label) for label in labels}
        jumps = [jump(cell.chosen) for cell in found.values()]
        ties = [together(cell.chosen) for cell in found.values()]
        learn = all(cell.choice.mean >= FAILS for cell in found.values())
        word = decide(learn and max(jumps) <= 0.3 and min(ties) >= 0.9, max(jumps) >= 0.5)
        word = "open" if any(map(unseen, found.values())) else word
        return Finding(word, "; ".join(describe(label, cell) for label, cell in found.items()))

    return Test(labels, find)


def bump_with_gain(label: str) -> Test:
    """The loss breaks and the model recalls."""

    def find(evidence: Evidence) -> Finding:
        cell = best(evidence, label)
        solves, has_bump = cell.choice.mean >= SOLVES, bump(cell.chosen) >= BUMP
        smooth = solves and not any(map(early, cell.chosen))
        contradicted = cell.choice.mean < FAILS if has_bump else smooth
        word = "open" if unseen(cell) else decide(solves and has_bump, contradicted)
        return Finding(word, describe(label, cell))

    return Test((label,), find)


def cannot_fit(evidence: Evidence) -> Finding:
    """One attention layer on its own training rows."""
    runs = best(evidence, ATTENTION).chosen
    if any(run.spec.task.rows == "fresh" for run in runs):
        return Finding("open", "every step draws fresh rows: there are none to be fitted")
    fits = [curve(run, "train_accuracy")[-1] for run in runs]
    numbers = f"train accuracy at the end {', '.join(f'{value:.1%}' for value in fits)}"
    return Finding(decide(max(fits) < FAILS, max(fits) >= SOLVES), numbers)


def needs_width(evidence: Evidence) -> Finding:
    """Hyena should recall in cells that are wider than long and fail in the others, where Mamba recalls."""
    means: dict[tuple[str, bool], float] = {}
    for label, place, cell in cells(evidence, (HYENA, MAMBA)):
        key = label, place.d_model > place.length
        means[key] = max(cell.choice.mean, means.get(key, 0.0))
    narrow, wide = ({label: means.get((label, is_wide)) for label in (HYENA, MAMBA)} for is_wide in (False, True))
    hyena, mamba = narrow[HYENA], narrow[MAMBA]
    if hyena is None or mamba is None:
        return Finding("open", "no cell is as narrow as its sequence is long")
    numbers = f"at widths up to the length: {HYENA} at best {hyena:.1%}, {MAMBA} {mamba:.1%}; wider: "
    numbers += ", ".join(f"{label} {mean:.1%}" for label, mean in wide.items() if mean is not None) or "none"
    supported = hyena < SOLVES <= min(mamba, wide[HYENA] or 0.0)
    return Finding(decide(supported, hyena >= SOLVES or (mamba < FAILS and (wide[MAMBA] or 0.0) >= SOLVES)), numbers)


SMOOTH = (
    "supported if it reaches 50 %, no tenth of the budget, the first too, gains over 30 % and loss and accuracy "
    "correlate by 0.9, contradicted if one gains 50 %"
)
BREAK = (
    "supported if it reaches 90 % and the loss drops by 0.3 within a tenth of the budget, the first apart, "
    "contradicted if it drops and stays below 50 %, or reaches 90 % without a drop and no seed has 50 % in the first "
    "tenth"
)
CLAIMS = (
    Claim(
        number=20,
        statement="Hyena learns smoothly: loss and accuracy move together.",
        where="Fig 6",
        paper="smooth",
        study="fig6",
        rule=SMOOTH,
        version=3,
        test=smooth(HYENA),
    ),
    Claim(
        number=21,
        statement="H3 and RWKV learn smoothly too.",
        where="workshop version",
        paper="smooth",
        study="fig6",
        rule=SMOOTH,
        version=3,
        test=smooth(H3, RWKV4),
    ),
    Claim(
        number=23,
        statement="With two attention layers that break brings the accuracy.",
        where="Sec 6",
        paper="gain",
        study="fig6",
        rule=BREAK,
        version=3,
        test=bump_with_gain(TWO_LAYERS),
    ),
    Claim(
        number=24,
        statement="One attention layer cannot even fit its training rows.",
        where="Sec 1",
        paper="cannot",
        study="fig6",
        rule="on rows that come again, train accuracy at the end: supported if below 50 % while two layers recall "
        "90 %, contradicted if it reaches 90 %",
        version=3,
        test=with_control(Test((ATTENTION,), cannot_fit), TWO_LAYERS),
    ),
    Claim(
        number=25,
        statement="The loss of one Mamba layer breaks its plateau, and it recalls.",
        where="Fig 6",
        paper="bump, solved",
        study="fig6",
        rule=BREAK,
        version=3,
        test=bump_with_gain(MAMBA),
    ),
    Claim(
        number=27,
        statement="Hyena needs a width above the length, Mamba does not.",
        where="Fig 6",
        paper="needs d > L",
        study="fig6",
        rule="at widths up to the length: supported if Mamba reaches 90 % and Hyena only when wider, "
        "contradicted if Hyena does or Mamba stays below 50 % and reaches 90 % when wider",
        version=2,
        test=Test((HYENA, MAMBA), needs_width),
    ),
)
