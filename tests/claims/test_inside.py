"""Claims on what was seen inside: invented looks in which they hold, fail, or cannot be judged."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from recollect.claims import CLAIMS, Evidence
from recollect.spec import RunSpec
from recollect.store import Record
from recollect.studies import STUDIES, Changes
from recollect.studies.models import DELTANET, MAMBA, MAMBA2, TWO_LAYERS
from tests.support.invented import record_of


class World(NamedTuple):
    """Of one model: accuracy, largest induction score and when it rises (in budgets), lengths in rows, error."""

    accuracy: float = 0.99
    score: float = 0.9
    when: float = 0.5
    mixing: float = 0.2
    gradient: float = 0.3
    error: float = 1e-6


def seen(spec: RunSpec, world: World) -> Record:
    """A finished run whose accuracy rises in the middle of its budget."""
    record = record_of(spec, world.accuracy, "solved")
    assert record.result is not None
    total, length = spec.train.steps, spec.task.length
    steps = [0, total // 2 - 1, total // 2 + 1, total]
    right = [0.0, 0.0, world.accuracy, world.accuracy]
    curves = dict.fromkeys(record.result["curves"], right) | {"step": steps}
    middle = int(world.when * total)
    rising = {0: 0.0, middle - 1: 0.0, middle + 1: world.score}
    looks = {f"{layer} induction, best": rising for layer in range(spec.model.n_layers)}
    looks |= {f"{layer} behind value, best": dict.fromkeys(rising, 0.0) for layer in range(spec.model.n_layers)}
    looks["0 length"] = {0: 1.0, total: world.mixing * length}
    looks["gradient length"] = {0: 1.0, total: world.gradient * length}
    looks["0 identity"] = {0: 0.0, total: world.error}
    arrays = {name: {step: np.array(value) for step, value in values.items()} for name, values in looks.items()}
    return replace(record, result=record.result | {"curves": curves}, looks=arrays)


def judged(number: int, **worlds: World) -> tuple[str, str]:
    """The verdict where the models named so are as given, and all others as usual."""
    claim = CLAIMS[number]
    study = STUDIES[claim.study]
    runs: dict[str, list[Record]] = {}
    for case in study.cases("laptop", Changes(seeds=(1, 2, 3))):
        world = worlds.get(case.label.replace(", ", "_").replace(" ", "_"), World())
        runs.setdefault(case.label, []).append(seen(case.spec, world))
    finding = claim.judge(Evidence(study.name, "laptop", runs)).finding
    return finding.word, finding.numbers


TABLE = [
    (26, "contradicted", {}),
    (26, "supported", {MAMBA: World(score=0.1)}),
    (26, "supported", {MAMBA: World(when=0.9)}),
    (26, "open", {MAMBA: World(score=0.4)}),
    (26, "open", {MAMBA: World(when=0.65)}),
    (26, "open", {MAMBA: World(score=0.1), "attention_2_layers": World(score=0.3)}),
    (26, "open", {MAMBA: World(score=0.1, accuracy=0.5)}),
    (40, "supported", {DELTANET: World(mixing=np.inf, gradient=2)}),
    (40, "contradicted", {}),
    (40, "contradicted", {DELTANET: World(mixing=2, gradient=2), MAMBA2: World(mixing=1.5)}),
    (40, "open", {DELTANET: World(mixing=2, gradient=0.7)}),
    (40, "open", {DELTANET: World(mixing=2, gradient=2), MAMBA: World(gradient=0.7)}),
    (40, "open", {DELTANET: World(mixing=2, gradient=2), MAMBA: World(accuracy=0.5)}),
    (41, "supported", {}),
    (41, "contradicted", {MAMBA2: World(error=0.1)}),
    (41, "open", {MAMBA: World(error=1e-3)}),
]


@pytest.mark.parametrize(("number", "word", "worlds"), TABLE)
def test_a_claim_follows_what_was_seen(number: int, word: str, worlds: dict[str, World]) -> None:
    found, numbers = judged(number, **worlds)
    assert found == word, numbers
    assert MAMBA in numbers


def test_runs_that_nobody_looked_into_leave_a_claim_open() -> None:
    claim = CLAIMS[26]
    study = STUDIES["inside"]
    runs: dict[str, list[Record]] = {}
    for case in study.cases("laptop", Changes(seeds=(1, 2, 3))):
        runs.setdefault(case.label, []).append(record_of(case.spec, 0.99, "solved"))
    finding = claim.judge(Evidence(study.name, "laptop", runs)).finding
    assert finding.word == "open"
    assert finding.numbers == f"nobody looked into the runs of {MAMBA}, {TWO_LAYERS}; run the study with --probe"
