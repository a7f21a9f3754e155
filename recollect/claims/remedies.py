"""Claims of our own, apart from the paper's: each remedy widens Mamba's window. Fixed before their runs."""

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Cell, Evidence
from recollect.claims.judge import SOLVES, SURE, best_mean, decide, facing, spread, width
from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.remedies import REMEDIES
from recollect.studies.switches import AS_IT_IS, ENOUGH, switched, under
from recollect.window import surely_widened

LOSS = 0.01
PLAIN, CONTROL = under(MAMBA, AS_IT_IS), under(ATTENTION, AS_IT_IS)
STATEMENT = f"widens Mamba's window by at least {ENOUGH} decades at no more than {LOSS:.0%} loss of accuracy"
RULE = (
    f"against Mamba as it is: supported if P(wider by {ENOUGH} decades) >= {SURE} and at most {LOSS:.0%} of accuracy "
    f"is lost, contradicted if that P <= {1 - SURE:.2f} or more is lost, whatever lies beyond the range; "
    "a hole is no width, and a window in which over a quarter of the seeds fail is at most as wide as it seems; at "
    "several widths all must support, and one contradicts; "
    f"attention as it is has to reach {SOLVES:.0%}"
)


def widens(label: str) -> Test:
    """Whether a remedy widens Mamba's window enough, at every task and width, and what it costs."""

    def find(evidence: Evidence) -> Finding:
        pairs, control = facing(evidence, PLAIN, (label,)), best_mean(evidence, CONTROL)
        found = [judged(plain, cured) for _, plain, cured in pairs]
        words = [one.word for one in found]
        word = decide(set(words) == {"supported"}, "contradicted" in words)
        numbers = "; ".join([*(one.numbers for one in found), f"control: {CONTROL} {control:.1%}"])
        return Finding(word if control >= SOLVES else "open", numbers)

    return Test((label, PLAIN, CONTROL), find)


def judged(plain: Cell, cured: Cell) -> Finding:
    """One cell with the remedy against the same without."""
    least, greatest = surely_widened(cured.window, plain.window, ENOUGH)
    loss = plain.choice.mean - cured.choice.mean
    word = decide(least >= SURE and loss <= LOSS, greatest <= 1 - SURE or loss > LOSS)
    chance = f"{least:.2f}" if least == greatest else f"{least:.2f} to {greatest:.2f}"
    numbers = f"P(wider by {ENOUGH}) {chance}: {width(cured)} against {width(plain)}; "
    return Finding(word, numbers + f"{spread(cured)} against {spread(plain)}")


CLAIMS = tuple(
    Claim(
        number=i,
        statement=f"{name}: {STATEMENT}",
        where="ours",
        paper="no claim",
        study="remedies",
        rule=RULE,
        version=3,
        test=widens(under(MAMBA, name)),
        ours=True,
    )
    for i, name in enumerate((name for name in REMEDIES if under(MAMBA, name) in switched(REMEDIES, MAMBA)), 1)
)
