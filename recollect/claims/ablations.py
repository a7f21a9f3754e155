"""Claims 28 to 36: what a layer is made of (Tables 2, 3, 4, and our study of the convolution)."""

from recollect.claims.claim import Claim, Finding
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    FAILS,
    NEAR,
    SOLVES,
    alike,
    at_least,
    at_most,
    both,
    decide,
    facing,
    show_pairs,
    wider_than,
)

CONV = "attention + conv on QKV"
BARE, NO_GATE, S6 = "mamba w/o conv", "mamba w/o gate", "S6 + MLP"
ENCODINGS = ("absolute", "relative", "learned")
INTACT, ABLATED = "4 taps, 2 layers", "0 taps, 2 layers"


def survives(evidence: Evidence) -> Finding:
    """Two layers without their convolution; where they fail with it too, nothing follows."""
    means = {label: min(cell.choice.mean for cell in evidence.of(label).values()) for label in (INTACT, ABLATED)}
    lost = means[ABLATED] < FAILS and means[INTACT] >= SOLVES
    return Finding(decide(means[ABLATED] >= SOLVES, lost), show_pairs(INTACT, facing(evidence, INTACT, (ABLATED,))))


def positions_do_nothing(evidence: Evidence) -> Finding:
    """Every recurrent model with each encoding against itself without one."""
    pairs = [
        pair
        for mixer in ("mamba", "hyena", "rwkv4", "h3")
        for pair in facing(evidence, f"{mixer}, none", [f"{mixer}, {name}" for name in ENCODINGS])
    ]
    gaps = [abs(mine.choice.mean - other.choice.mean) for _, mine, other in pairs]
    return Finding(decide(max(gaps) <= NEAR, max(gaps) >= 0.2), show_pairs("none", pairs))


CLAIMS = (
    Claim(
        28,
        "One attention layer stays at the floor; with a short convolution on Q, K and V it recalls.",
        "Table 2",
        "2 %, 99 %",
        "table2",
        ("attention", CONV),
        "supported if attention stays below 50 % and reaches 90 % with convolution, contradicted if one is opposite",
        both(at_most("attention"), at_least(CONV)),
    ),
    Claim(
        29,
        "The convolution suffices on K alone or on V alone, and does nothing on Q alone.",
        "Table 3",
        "99, 99, 2 %",
        "table3",
        tuple(f"attention + conv on {branch}" for branch in "KVQ"),
        "supported if K and V reach 90 % and Q stays below 50 %, contradicted if one does the opposite",
        both(at_least("attention + conv on K"), at_least("attention + conv on V"), at_most("attention + conv on Q")),
    ),
    Claim(
        30,
        "One Mamba layer recalls, without its convolution it does not.",
        "Table 2",
        "99 %, 2 %",
        "table2",
        ("mamba", BARE),
        "supported if Mamba reaches 90 % and stays below 50 % without convolution, contradicted if one is opposite",
        both(at_least("mamba"), at_most(BARE)),
    ),
    Claim(
        31,
        "One Mamba layer without convolution does as one attention layer does.",
        "Sec 7",
        "2 %, 2 %",
        "table2",
        ("attention", BARE),
        "supported if the means are within 5 %, contradicted if 20 % apart",
        alike("attention", BARE),
    ),
    Claim(
        32,
        "Two Mamba layers survive the loss of their convolution.",
        "Sec 7",
        "robust",
        "conv",
        (INTACT, ABLATED),
        "supported if it reaches 90 % without, contradicted if it stays below 50 % and reaches 90 % with four taps",
        survives,
    ),
    Claim(
        33,
        "The narrow window persists in all variants of Mamba.",
        "Sec 7",
        "persists",
        "table2",
        (CONV, "mamba", NO_GATE, S6),
        "against attention with convolution: supported if P(wider) >= 0.95 for each, contradicted if <= 0.05 for one",
        wider_than(CONV, "mamba", NO_GATE, S6),
    ),
    Claim(
        34,
        "Mamba recalls without its gate, and as S6 in a Transformer's block.",
        "Table 2",
        "98 %, 98 %",
        "table2",
        (NO_GATE, S6),
        "supported if both reach 90 %, contradicted if one stays below 50 %",
        at_least(NO_GATE, S6),
    ),
    Claim(
        35,
        "S6 itself is the root of Mamba's ability: whatever stands around it, it recalls.",
        "Sec 7",
        "the root",
        "table2",
        ("mamba", NO_GATE, S6, BARE),
        "supported if every variant that keeps S6 reaches 90 %, contradicted if one stays below 50 %",
        at_least("mamba", NO_GATE, S6, BARE),
    ),
    Claim(
        36,
        "Position encodings change nothing for recurrent models.",
        "Table 4",
        "Mamba .99 each; Hyena .29 to .34; RWKV .21 to .24; H3 .25 to .30",
        "table4",
        tuple(f"{mixer}, {name}" for mixer in ("mamba", "hyena", "rwkv4", "h3") for name in ("none", *ENCODINGS)),
        "supported if every encoding is within 5 % of none, contradicted if one is 20 % apart",
        positions_do_nothing,
    ),
)
