"""What a scale leaves out is computed: every word of a note is compared with a count of the study's own cases."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from recollect.spec import RecallOptions
from recollect.studies import STUDIES, Case, Study
from tests.support.cases import all_cases

SCALED = [(study, scale) for study in STUDIES.values() for scale in study.scales if scale != "paper"]
COUNTS = re.compile(
    r"\d|\b(no|one|single|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|half)\b",
    re.I,
)
DEPTHS = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "twelve": 12}


def spoken(values: Iterable[Any]) -> str:
    """One value, two, or the ends of more."""
    found = sorted(set(values))
    return " and ".join(map(str, found)) if len(found) < 3 else f"{found[0]} to {found[-1]}"


def unsaid(study: Study, cases: Iterable[Case], field: str) -> list[Case]:
    """The cases whose label does not speak of a field."""
    return [case for case in cases if field not in study.models[case.label].fields]


def epochs(case: Case) -> float | None:
    """How often a run sees its fixed rows."""
    rows, train = case.spec.task.rows, case.spec.train
    return None if isinstance(rows, str) else train.steps / -(-rows // train.batch_size)


@cache
def cases_of(name: str, scale: str) -> list[Case]:
    """The cases of a study but replications, which are others' words; none at a scale that it does not have."""
    study = STUDIES[name]
    found = all_cases(name, scale) if scale in study.scales else []
    return [case for case in found if not study.models[case.label].protocol]


@cache
def counts(name: str, scale: str) -> dict[str, str]:
    """Pattern -> what there is to say of a scale, counted from its cases."""
    study, cases = STUDIES[name], cases_of(name, scale)
    if not cases:
        return {}
    found = {
        "(.+?) learning rates?": "searched"
        if study.scales[scale].design == "window"
        else str(len({case.spec.train.lr for case in cases})),
        "(.+?) seeds?": str(len({case.spec.seed for case in cases})),
        "d=(.+?)": spoken(case.spec.model.d_model for case in unsaid(study, cases, "model.d_model")),
        "(.+?) layers?": spoken(case.spec.model.n_layers for case in unsaid(study, cases, "model.n_layers")),
    }
    kinds = {name: [case.spec.task for case in unsaid(study, cases, f"task.{name}")] for name in ("vocabulary", "rows")}
    found["(.+?) vocabulary"] = spoken(
        task.vocabulary for task in kinds["vocabulary"] if isinstance(task, RecallOptions)
    )
    found["(.+?) rows"] = spoken(task.rows if task.rows == "fresh" else f"{task.rows:,}" for task in kinds["rows"])
    for letter, field in {"V": "vocab_size", "L": "length", "K": "n_pairs"}.items():
        sizes = [case.spec.task for case in cases if isinstance(case.spec.task, RecallOptions)]
        found[f"{letter}=(.+?)"] = spoken(getattr(task, field) for task in sizes)
    seen = {epochs(case) for case in unsaid(study, unsaid(study, cases, "task.rows"), "train.steps")}
    if None in seen:
        found["(.+?) steps"] = spoken(case.spec.train.steps for case in unsaid(study, cases, "train.steps"))
    else:
        found["(.+?) epochs?"] = spoken(f"{count:g}" for count in seen)
    return {pattern: words for pattern, words in found.items() if words}


@pytest.mark.parametrize(("study", "scale"), SCALED, ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_note_says_what_the_cases_are_and_what_the_papers_are(study: Study, scale: str) -> None:
    phrases = [phrase for phrase in re.split("[,;] ", study.note(scale)) if not phrase.startswith("replications: ")]
    theirs = counts(study.name, "paper")
    for pattern, ours in counts(study.name, scale).items():
        said = [match for phrase in phrases if (match := re.fullmatch(f"{pattern}(?: instead of (.+))?", phrase))]
        if theirs.get(pattern) == ours:
            assert not said
        elif "steps" in pattern and theirs and pattern not in theirs:
            assert [match.groups() for match in said] == [(ours, f"{theirs['(.+?) epochs?']} epochs")]
        elif (study.name, scale, pattern) == ("confounders", "laptop", "(.+?) layers?"):
            assert [match.groups() for match in said] == [("2 (attention) and 1 (mamba)", "2")]
        else:
            assert [match.groups() for match in said] == [(ours, theirs.get(pattern))]


@pytest.mark.parametrize(("study", "scale"), SCALED, ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_note_says_when_runs_stop_and_whether_blocks_have_an_mlp(study: Study, scale: str) -> None:
    note, cases, papers = study.note(scale), cases_of(study.name, scale), cases_of(study.name, "paper")
    stops = {case.spec.train.stop_accuracy for case in cases} != {case.spec.train.stop_accuracy for case in papers}
    assert ("stopping on success" in re.split("[,;] ", note)) == stops
    assert "not stopping" not in note
    blocks, theirs = (
        {block for case in unsaid(study, found, "model.block") for block in case.spec.model.blocks} - {"mamba"}
        for found in (cases, papers)
    )
    assert (" no MLP" in note) == (blocks == {"mixer"} and theirs != blocks)


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_what_is_written_down_states_no_counts(study: Study) -> None:
    for scale in study.scales.values():
        assert not COUNTS.search(scale.remark)
    if "paper" in study.scales:
        assert study.note("paper") == study.scales["paper"].remark
    assert study.note("laptop (seeds 1)") == study.note("") == ""


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_a_title_and_a_question_are_true_at_every_scale(study: Study) -> None:
    words = re.findall(r"\b(\w+)[ -](?:\w+ )?layers?\b", f"{study.title} {study.question}".lower())
    depths = {DEPTHS[word] for word in words if word in DEPTHS}
    for scale in study.scales:
        cells = study.cells(scale)
        assert depths <= {case.spec.model.n_layers for case in cells}
        assert not depths or {case.spec.model.n_layers for case in unsaid(study, cells, "model.n_layers")} <= depths


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_a_label_says_the_depth_that_it_fixes(study: Study) -> None:
    for label, model in study.models.items():
        depth = model.fields.get("model.n_layers")
        assert (f"{depth} layer" in label) == (depth is not None)


def test_a_note_reads_well() -> None:
    assert STUDIES["fig13"].note("desk") == (
        "L=64 instead of 64 to 512, K=4 instead of 4 to 64, d=64 instead of 64 to 512, 16 epochs instead of 50, "
        "stopping on success, 3 learning rates instead of 17, 3 seeds instead of 5"
    )
    assert STUDIES["fig5"].note("laptop") == (
        "protocol laptop instead of jelassi, strings of 4 to 8 letters instead of 5 to 20, no MLP, "
        "d=64 instead of 1024, 2 layers instead of 12, 1500 steps instead of 2000, stopping on success, "
        "batch 32 instead of 8, searched learning rates instead of 17"
    )
    assert STUDIES["fig2"].note("laptop").endswith("; replications: 4000 steps instead of 64 epochs")
    assert STUDIES["fig2"].note("desk").endswith("; replications: 16 epochs instead of 64")
    assert STUDIES["fig4"].note("laptop").endswith("; without 'based'; without 'h3'; without 'rwkv4'")
    assert all(len(study.note(scale)) <= 420 for study, scale in SCALED)
