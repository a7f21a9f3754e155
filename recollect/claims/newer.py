"""Claims 37 to 42: newer models (Fig 7) and theory."""

from recollect.claims.claim import Claim, Finding
from recollect.claims.evidence import Evidence
from recollect.claims.judge import FAILS, SOLVES, decide, facing, not_measured, spread, wider_than, width
from recollect.window import wider

TWO, LARGE = "attention, 2 layers", "mamba, state of 32"
WIDER = "supported if P(wider) >= 0.95 at every place, contradicted if <= 0.05 at one"


def as_robust(evidence: Evidence) -> Finding:
    """DeltaNet's window against that of two attention layers."""
    pairs = [(mine, other) for _, mine, other in facing(evidence, TWO, ("deltanet",))]
    widths = [(mine.window.width, other.window.width) for mine, other in pairs]
    level = all(mine and other and other.value >= 0.8 * mine.value for mine, other in widths)
    narrower = any(wider(mine.window, other.window) >= 0.95 for mine, other in pairs)
    numbers = "; ".join(f"attention {width(mine)}, deltanet {width(other)}" for mine, other in pairs)
    return Finding(decide(level, narrower), numbers)


def optimisation(evidence: Evidence) -> Finding:
    """Where Mamba fails at every rate: does a change of training, not of the model, solve it?"""
    plain = next(iter(evidence.of("mamba, as it is").values()))
    if plain.choice.mean >= SOLVES:
        return Finding("open", f"Mamba does not fail there: {spread(plain)}")
    others = {label: next(iter(evidence.of(label).values())) for label in evidence.runs if _is_training(label)}
    label, cell = max(others.items(), key=lambda item: item[1].choice.mean)
    numbers = f"as it is {spread(plain)}; best change: {label} {spread(cell)}"
    return Finding(decide(cell.choice.mean >= SOLVES, cell.choice.mean < FAILS), numbers)


def _is_training(label: str) -> bool:
    """Whether a changed switch leaves the model and the task what they were."""
    words = ("init", "decay", "warm-up", "constant", "clip", "beta2", "rows")
    return label.startswith("mamba, ") and any(word in label for word in words)


CLAIMS = (
    Claim(
        37,
        "Mamba2 is slightly more stable than Mamba.",
        "Fig 7",
        "slightly",
        "fig7",
        ("mamba2", "mamba"),
        WIDER,
        wider_than("mamba2", "mamba"),
    ),
    Claim(
        38,
        "DeltaNet is as robust to the learning rate as a Transformer.",
        "Fig 7",
        "as robust",
        "fig7",
        (TWO, "deltanet"),
        "supported if its window has 80 % of the width of attention's, contradicted if P(attention wider) >= 0.95",
        as_robust,
    ),
    Claim(
        39,
        "A larger state helps stability a little.",
        "Fig 7",
        "marginally",
        "fig7",
        (LARGE, "mamba"),
        f"Mamba with DeltaNet's state size: {WIDER}",
        wider_than(LARGE, "mamba"),
    ),
    Claim(
        40,
        "Mamba's and Mamba2's mixing decays with distance and their gradients vanish; DeltaNet's need not.",
        "Sec 7",
        "hypothesis",
        "fig7",
        ("mamba", "mamba2", "deltanet"),
        "needs mixing matrices of trained models, which no run keeps yet",
        not_measured("needs the mixing matrices of trained models"),
    ),
    Claim(
        41,
        "A state-space model is a mixing matrix applied to its values.",
        "eq. 1",
        "an identity",
        "fig7",
        ("mamba",),
        "an identity, which the contract suite checks for every mixer; no training run bears on it",
        not_measured("an identity: `recollect check mamba` and the tests check it, no training run bears on it"),
    ),
    Claim(
        42,
        "The gap is one of optimisation, not of expressivity.",
        "Sec 1",
        "mainly",
        "confounders",
        ("mamba, as it is",),
        "where Mamba fails: supported if a change of training alone reaches 90 %, contradicted if none reaches 50 %",
        optimisation,
    ),
)
