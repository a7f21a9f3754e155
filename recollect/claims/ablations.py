"""Claims 28 to 36: what a layer is made of (Tables 2, 3, 4, and our study of the convolution)."""

import itertools

from recollect.claims.claim import Claim, Finding, Test
from recollect.claims.evidence import Evidence
from recollect.claims.judge import (
    APART,
    FAILS,
    NEAR,
    SOLVES,
    WIDER,
    alike,
    at_best,
    at_least,
    at_most,
    both,
    decide,
    facing,
    show_pairs,
    wider_than,
    with_control,
)
from recollect.studies.conv import taps
from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.table2 import NO_CONV, NO_GATE, S6_MLP, conv_on
from recollect.studies.table3 import V_AFTER
from recollect.studies.table4 import MIXERS, READINGS, encoded, under
from recollect.window.reading import grouped

CONV, PLAIN = conv_on("QKV"), under(MAMBA, "none")
INTACT, ABLATED = taps(4, 2), taps(0, 2)


def survives(evidence: Evidence) -> Finding:
    """Two layers without their convolution; where they fail with it too, nothing follows."""
    means = {label: min(cell.choice.mean for cell in evidence.of(label).values()) for label in (INTACT, ABLATED)}
    lost = means[ABLATED] < FAILS and means[INTACT] >= SOLVES
    return Finding(decide(means[ABLATED] >= SOLVES, lost), show_pairs(INTACT, facing(evidence, INTACT, (ABLATED,))))


def encodings(evidence: Evidence) -> Finding:
    """Every encoding of every recurrent model against none, at each width; of several readings the nearest counts."""
    gaps, shown = [], []
    for mixer, readings in itertools.product(MIXERS, READINGS):
        none, *others = (under(mixer, name) for name in ("none", *readings))
        pairs = facing(evidence, none, others)
        shown.append(show_pairs("none", pairs))
        apart = grouped((id(mine), abs(mine.choice.mean - other.choice.mean)) for _, mine, other in pairs)
        gaps += [min(found) for found in apart.values()]
    if not gaps:
        return Finding("open", "no encoding faces none at the same width")
    return Finding(decide(max(gaps) <= NEAR, max(gaps) >= APART), "; ".join(shown))


CLAIMS = (
    Claim(
        number=28,
        statement="One attention layer stays at the floor; with a short convolution on Q, K and V it recalls.",
        where="Table 2",
        paper="2 %, 99 %",
        study="table2",
        rule="supported if attention stays below 50 %, every seed below 90 % and not rising where the rates "
        "end, and reaches 90 % with convolution, contradicted if one is opposite",
        version=3,
        test=both(at_most(ATTENTION), at_least(CONV)),
    ),
    Claim(
        number=29,
        statement="The convolution suffices on K alone or on V alone, and does nothing on Q alone.",
        where="Table 3",
        paper="99, 99, 2 %",
        study="table3",
        rule="supported if K reaches 90 %, V does so before or after its projection, and Q stays below 50 %, every "
        "seed below 90 % and not rising where the rates end, contradicted if one does the opposite, V in both places",
        version=4,
        test=both(at_least(conv_on("K")), at_best(conv_on("V"), V_AFTER), at_most(conv_on("Q"))),
    ),
    Claim(
        number=30,
        statement="One Mamba layer recalls, without its convolution it does not.",
        where="Table 2",
        paper="99 %, 2 %",
        study="table2",
        rule="supported if Mamba reaches 90 % and stays below 50 % without convolution, every seed below 90 % "
        "and not rising where the rates end, contradicted if one is opposite",
        version=3,
        test=both(at_least(MAMBA), at_most(NO_CONV)),
    ),
    Claim(
        number=31,
        statement="One Mamba layer without convolution does as one attention layer does.",
        where="Sec 7",
        paper="2 %, 2 %",
        study="table2",
        rule="supported if the means are within 5 % while each recalls 90 % with a convolution, "
        "contradicted if 20 % apart",
        version=2,
        test=with_control(alike(ATTENTION, NO_CONV), CONV, MAMBA),
    ),
    Claim(
        number=32,
        statement="Two Mamba layers survive the loss of their convolution.",
        where="Sec 7",
        paper="robust",
        study="conv",
        rule="supported if it reaches 90 % without, "
        "contradicted if it stays below 50 % and reaches 90 % with four taps",
        test=Test((INTACT, ABLATED), survives),
    ),
    Claim(
        number=33,
        statement="The narrow window persists in all variants of Mamba.",
        where="Sec 7",
        paper="persists",
        study="table2",
        rule=f"attention with convolution against each variant: {WIDER}",
        version=4,
        test=wider_than(CONV, MAMBA, NO_GATE, S6_MLP),
    ),
    Claim(
        number=34,
        statement="Mamba recalls without its gate, and as S6 in a Transformer's block.",
        where="Table 2",
        paper="98 %, 98 %",
        study="table2",
        rule="supported if both reach 90 %, contradicted if one stays below 50 %",
        test=at_least(NO_GATE, S6_MLP),
    ),
    Claim(
        number=35,
        statement="S6 itself is the root of Mamba's ability: whatever stands around it, it recalls.",
        where="Sec 7",
        paper="the root",
        study="table2",
        rule="supported if every variant that keeps S6 reaches 90 %, contradicted if one stays below 50 %",
        test=at_least(MAMBA, NO_GATE, S6_MLP, NO_CONV),
    ),
    Claim(
        number=36,
        statement="Position encodings change nothing for recurrent models.",
        where="Table 4",
        paper="Mamba .99 each; Hyena .29 to .34; RWKV .21 to .24; H3 .25 to .30",
        study="table4",
        rule="supported if every encoding, in one of its readings, is within 5 % of none and Mamba reaches 90 % with "
        "none, contradicted if one is 20 % apart in all of its readings",
        version=2,
        test=with_control(Test(tuple(label for mixer in MIXERS for label in encoded(mixer)), encodings), PLAIN),
    ),
)
