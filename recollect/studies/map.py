"""Where does the narrow window live: over which lengths, pairs and vocabularies is whose window how wide?"""

from dataclasses import replace

from recollect.studies.models import ATTENTION, MAMBA
from recollect.studies.parts import Variant
from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, WIDE
from recollect.studies.study import Study

VOCABULARIES = ("split", "shared")


def with_vocabulary(mixer: str, vocabulary: str) -> str:
    """The label of a mixer on rows with one vocabulary for keys and values, or one each."""
    return f"{mixer}, {vocabulary}"


# One vocabulary size for all: it has to exceed the longest row.
TASKS = tuple(
    {"task.length": length, "task.n_pairs": pairs, "task.vocab_size": 128} for length in (32, 64) for pairs in (4, 8)
)

STUDY = Study(
    title="Width of the learning-rate window, two layers, by task and vocabulary",
    figure="map",
    models={
        with_vocabulary(mixer, word): Variant(mixer, {"task.vocabulary": word})
        for mixer in (ATTENTION, MAMBA)
        for word in VOCABULARIES
    },
    scales={
        "smoke": SMOKE,
        "laptop": replace(LAPTOP, lrs=WIDE, settings=TASKS, design="window"),
        "desk": replace(DESK, design="window"),
        "paper": replace(PAPER, settings=PAIRS, shapes=((64, 2),), design="window"),
    },
    minutes={"laptop": 200, "desk": 800},
)
