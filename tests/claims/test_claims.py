"""The ledger: invented results in which a claim holds, fails, or cannot be judged."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from recollect.claims import CLAIMS, Evidence, ledger
from recollect.claims.claim import Finding
from recollect.cli import main
from recollect.spec import RunSpec
from recollect.spec.protocols import ZOOLOGY
from recollect.store import ACCURACY, WINDOW, Contents, Record, Store
from recollect.studies import STUDIES, Changes, Study
from tests.support.invented import fill, record_of

World = Callable[[str, RunSpec], float]
SEEDS = (42, 123, 777)
LRS = tuple(10 ** (-4 + i / 10) for i in range(31))


def inside(spec: RunSpec, low: float, high: float, top: float = 0.995, floor: float = 0.02) -> float:
    """Accuracy that is high in a window of log10 lr."""
    return top if low < math.log10(spec.train.lr) < high else floor


def windows(**spans: tuple[float, float]) -> World:
    """Each model has its window; a label is found by its beginning."""

    def world(label: str, spec: RunSpec) -> float:
        key = next(name for name in sorted(spans, key=len, reverse=True) if label.startswith(name.replace("_", " ")))
        return inside(spec, *spans[key])

    return world


def levels(**tops: float) -> World:
    """Each model has one accuracy at every learning rate; `other` is for the rest."""
    return lambda label, spec: tops.get(label.replace(" ", "_").replace(",", "").replace("+", "and"), tops["other"])


def by_width(narrow: float, wide: float, recurrent: tuple[float, float]) -> World:
    """Attention and the others at the smallest and at larger widths."""

    def world(label: str, spec: RunSpec) -> float:
        low, high = (narrow, wide) if label == "attention" else recurrent
        return low if spec.model.d_model == 16 else high

    return world


def evidence(
    study: Study,
    world: World,
    curves: Callable[[Record], Record] = lambda record: record,
    fields: Mapping[str, Any] = MappingProxyType({}),
) -> Evidence:
    """A study at laptop scale, finished as the world has it."""
    cases = study.cases("laptop", Changes(dict(fields), seeds=SEEDS, lrs=LRS if study.figure == "lr" else ()))
    runs: dict[str, list[Record]] = {}
    for case in cases:
        record = record_of(case.spec, world(case.label, case.spec), "partial")
        runs.setdefault(case.label, []).append(curves(record))
    return Evidence(study.name, "laptop", runs)


WIDE, NARROW = (-3.6, -1.4), (-2.6, -2.2)


def _lucky(label: str, spec: RunSpec) -> float:
    """Attention has a window; of the others two seeds of three succeed at a single learning rate."""
    if label == "attention":
        return inside(spec, *WIDE)
    return 0.995 if spec.train.lr == LRS[15] and spec.seed != SEEDS[0] else 0.3


def _climbing(end: float, **levels: tuple[float, float]) -> World:
    """Each model's accuracy from a log10 learning rate on, and at the rates before; `other` is for the rest."""

    def world(label: str, spec: RunSpec) -> float:
        best, rest = levels.get(label.replace(" ", "_").replace(",", ""), levels["other"])
        return best if math.log10(spec.train.lr) > end - 0.01 else rest

    return world


TABLE = [
    (1, "supported", windows(attention=WIDE, mamba=NARROW, hyena=NARROW)),
    (1, "contradicted", windows(attention=NARROW, mamba=WIDE, hyena=WIDE)),
    (1, "open", windows(attention=WIDE, mamba=WIDE, hyena=NARROW)),
    (2, "supported", windows(attention=WIDE, mamba=NARROW, hyena=NARROW)),
    (2, "contradicted", lambda label, spec: inside(spec, *NARROW, floor=0.25)),
    (3, "supported", windows(attention=WIDE, mamba=(-2.55, -2.2), hyena=WIDE)),
    (3, "contradicted", windows(attention=WIDE, mamba=WIDE, hyena=WIDE)),
    (4, "supported", lambda label, spec: 0.9 if spec.train.lr == 1e-3 else 0.3),
    (4, "contradicted", lambda label, spec: 0.9 if spec.train.lr == 1e-2 else 0.3),
    (6, "supported", levels(other=0.995)),
    (6, "contradicted", levels(attention=0.8, other=0.995)),
    (7, "supported", levels(attention=0.99, other=0.5)),
    (7, "contradicted", levels(other=0.9)),
    (8, "supported", windows(attention=WIDE, mamba=WIDE)),
    (9, "supported", levels(other=0.99)),
    (9, "contradicted", lambda label, spec: 0.99 if spec.model.n_layers > 2 else 0.8),
    (11, "supported", levels(other=0.99)),
    (11, "contradicted", lambda label, spec: 0.3 if "beta2" in label else 0.99),
    (12, "supported", by_width(0.2, 0.2, (0.3, 0.9))),
    (12, "contradicted", by_width(0.2, 0.2, (0.8, 0.3))),
    (13, "supported", levels(attention=0.2, other=0.99)),
    (13, "contradicted", levels(other=0.99)),
    (14, "supported", levels(based=0.2, other=0.99)),
    (15, "supported", levels(other=0.14)),
    (15, "contradicted", levels(other=0.3)),
    (16, "supported", by_width(0.1, 0.1, (0.3, 0.99))),
    (16, "contradicted", levels(other=0.3)),
    (18, "supported", lambda label, spec: _scaled(label == "attention", spec)),
    (18, "contradicted", lambda label, spec: _scaled(label != "attention", spec)),
    (19, "supported", levels(attention=0.99, mamba_wide=0.99, other=0.3)),
    (19, "contradicted", levels(attention=0.99, mamba_wide=0.3, other=0.5)),
    (19, "open", levels(attention=0.99, mamba_wide=0.5, other=0.4)),
    (28, "supported", levels(attention=0.2, other=0.99)),
    (28, "contradicted", levels(other=0.2)),
    (28, "open", levels(attention=0.2, other=0.7)),
    (29, "supported", levels(attention_and_conv_on_Q=0.2, other=0.99)),
    (29, "contradicted", lambda label, spec: 0.4 if "conv on V" in label or label == "attention" else 0.99),
    (29, "supported", levels(attention_and_conv_on_Q=0.2, attention_and_conv_on_V=0.4, other=0.99)),
    (30, "supported", lambda label, spec: 0.2 if "w/o conv" in label else 0.99),
    (30, "contradicted", levels(other=0.99)),
    (31, "supported", lambda label, spec: 0.2 if label in ("attention", "mamba w/o conv") else 0.99),
    (31, "contradicted", lambda label, spec: 0.9 if "mamba" in label else 0.2),
    (32, "supported", levels(other=0.99)),
    (32, "contradicted", levels(**{"0_taps_2_layers": 0.3}, other=0.99)),
    (32, "open", levels(other=0.3)),
    (34, "supported", levels(other=0.99)),
    (35, "contradicted", lambda label, spec: 0.2 if "w/o conv" in label else 0.99),
    (36, "supported", lambda label, spec: 0.99 if "mamba" in label else 0.3),
    (36, "supported", lambda label, spec: 0.03 if ", absolute" in label else 0.95),
    (36, "contradicted", lambda label, spec: 0.9 if "learned" in label else 0.5),
    (36, "contradicted", lambda label, spec: 0.03 if "absolute" in label else 0.95),
    (36, "open", levels(other=0.5)),
    (37, "supported", windows(attention=WIDE, deltanet=WIDE, mamba2=(-3.4, -1.6), mamba=(-2.6, -2.2))),
    (37, "contradicted", windows(attention=WIDE, deltanet=WIDE, mamba2=(-2.6, -2.2), mamba=WIDE)),
    (38, "supported", windows(attention=WIDE, deltanet=WIDE, mamba=NARROW)),
    (38, "contradicted", windows(attention=WIDE, deltanet=NARROW, mamba=NARROW)),
    (40, "open", levels(other=0.99)),
    (41, "open", levels(other=0.99)),
    (42, "supported", lambda label, spec: 0.99 if "gpt2" in label or "attention" in label else 0.2),
    (42, "contradicted", lambda label, spec: 0.99 if "attention" in label else 0.2),
    (42, "open", levels(other=0.99)),
]


def nothing(label: str, spec: RunSpec) -> float:
    """A world in which nobody gets beyond a guess."""
    return 0.25


def flat(record: Record) -> Record:
    """A run whose curves never move."""
    return shaped([2.0] * 20, [0.25] * 20)(record)


@pytest.mark.parametrize("number", CLAIMS)
def test_where_nobody_learns_no_claim_is_supported(number: int) -> None:
    claim = CLAIMS[number]
    study = STUDIES[claim.study]
    if set(claim.test.labels) <= {case.label for case in study.cells("laptop")}:
        found = claim.judge(evidence(study, nothing, flat)).finding
        assert found.word != "supported", found.numbers


NOWHERE = [
    (
        1,
        "open",
        windows(attention=WIDE, mamba=(1, 2), hyena=(1, 2)),
        "mamba has no sure window, so none that is narrow",
    ),
    (1, "open", windows(attention=WIDE, mamba=NARROW, hyena=(1, 2)), "hyena has no sure window"),
    (1, "contradicted", windows(attention=(1, 2), mamba=NARROW, hyena=NARROW), "P(wider than mamba) = 0.00"),
    (1, "open", windows(attention=(-3.6, -2.0), mamba=(-2.2, 0), hyena=(-2.2, 0)), "a window is open"),
    (1, "supported", windows(attention=(-3.9, 0), mamba=NARROW, hyena=NARROW), "or more)"),
    (1, "contradicted", windows(attention=NARROW, mamba=(-3.6, 0), hyena=(-3.6, 0)), "or more)"),
    (1, "open", windows(attention=(-9, 0), mamba=(-9, 0), hyena=(-9, 0)), "between 0.00 and 1.00"),
    (1, "open", lambda label, spec: _lucky(label, spec), "mamba has no sure window"),
    (2, "open", windows(attention=WIDE, mamba=(1, 2), hyena=(1, 2)), "no learning rate lies surely outside"),
    (2, "open", lambda label, spec: _lucky(label, spec), "no learning rate lies surely outside"),
    (3, "open", lambda label, spec: _lucky(label, spec), "no recurrent model has a window"),
    (8, "open", lambda label, spec: _lucky(label, spec), "not every depth has a window that is sure"),
    (38, "open", lambda label, spec: _lucky("", spec), "attention has no window that is sure"),
    (38, "open", lambda label, spec: _lucky(label.partition(",")[0], spec), "contradicted, but not without seed 123"),
    (10, "open", windows(attention=WIDE, mamba=(1, 2)), "no sure window, so none that is narrow"),
    (8, "open", windows(attention=WIDE, mamba=(-9, 0)), "or more)"),
    (37, "open", windows(attention=WIDE, deltanet=WIDE, mamba2=WIDE, mamba=(1, 2)), "no sure window, so none"),
    (38, "open", windows(attention=(-9, 0), deltanet=(-9, 0), mamba=NARROW), "or more)"),
    (38, "supported", windows(attention=WIDE, deltanet=(-9, 0), mamba=NARROW), "or more)"),
    (4, "open", levels(other=0.3), "no recurrent model learns"),
    (7, "open", levels(attention=0.35, other=0.25), "attention 35.0%"),
    (7, "open", _climbing(-1.33, attention=(0.99, 0.99), other=(0.8, 0.6)), "hyena 80.0%"),
    (7, "supported", _climbing(-1.33, attention=(0.99, 0.99), other=(0.8, 0.79)), "hyena 80.0%"),
    (13, "open", _climbing(-2, mamba=(0.99, 0.99), other=(0.45, 0.3)), "still rising where the rates end: attention"),
    (13, "supported", _climbing(-2, mamba=(0.99, 0.99), other=(0.45, 0.44)), "attention, d=16 45.0%"),
    (42, "open", _climbing(-1.5, attention_as_it_is=(0.99, 0.99), other=(0.49, 0.3)), "it is 49.0%"),
    (42, "contradicted", _climbing(-1.5, attention_as_it_is=(0.99, 0.99), other=(0.4, 0.39)), "it is 40.0%"),
    (42, "open", lambda label, spec: 0.3 if "mamba, as" in label and spec.seed != 42 else 0.99, "it is 53.0%"),
    (7, "open", levels(other=0.25), "attention 25.0%"),
    (9, "open", levels(other=0.25), "shallow 25.0%"),
    (12, "open", by_width(0.2, 0.2, (0.1, 0.25)), "from least to largest +0.0%"),
    (13, "open", levels(other=0.2), "control: mamba at best 20.0%"),
    (14, "open", levels(other=0.2), "control: mamba at best 20.0%"),
    (15, "open", lambda label, spec: 0.19, "position only 25.0%"),
    (17, "open", levels(other=0.2), "at equal parameters"),
    (19, "open", levels(attention=0.99, mamba_wide=0.01, other=0.02), "2 layers 1.0%"),
    (19, "open", levels(attention=0.99, mamba_wide=0.6, other=0.1), "2 layers 60.0%"),
    (31, "open", levels(other=0.2), "control:"),
    (42, "open", levels(other=0.2), "there is no gap"),
    (9, "open", lambda label, spec: 0.99 if spec.model.n_layers < 3 else 0.5, "deep 50.0%"),
    (9, "open", lambda label, spec: 0.1 if spec.model.n_layers < 3 else 0.16, "shallow 10.0%"),
    (12, "open", levels(other=0.95), "solved at the least"),
    (13, "open", lambda label, spec: 0.99 if label == "mamba" or spec.seed == 42 else 0.02, "attention, d=64 34.3%"),
    (15, "open", lambda label, spec: 0.01, "attention, d=64 1.0%"),
    (17, "open", lambda label, spec: 0.6 if spec.model.n_layers == 1 else 0.0, "apart"),
    (18, "open", lambda label, spec: 0.37 if (spec.model.n_layers > 1) == (label == "attention") else 0.2, "width"),
]


@pytest.mark.parametrize(("number", "word", "world", "told"), NOWHERE, ids=[f"{n}-{told}" for n, _, _, told in NOWHERE])
def test_a_rule_cannot_be_passed_by_failing(number: int, word: str, world: World, told: str) -> None:
    claim = CLAIMS[number]
    found = claim.judge(evidence(STUDIES[claim.study], world)).finding
    assert (found.word, told in found.numbers) == (word, True), found.numbers
    assert claim.version > 1


def test_an_axis_of_one_size_says_nothing_of_the_other() -> None:
    changes = Changes(widths=(32,), seeds=SEEDS)
    runs: dict[str, list[Record]] = {}
    for case in STUDIES["fig4"].cases("laptop", changes):
        runs.setdefault(case.label, []).append(record_of(case.spec, _scaled(True, case.spec), "partial"))
    found = CLAIMS[18].judge(Evidence("fig4", STUDIES["fig4"].called("laptop", changes, "best"), runs)).finding
    assert (found.word, found.numbers) == ("open", "one width or one depth only")


def _scaled(by_depth: bool, spec: RunSpec) -> float:
    """Accuracy that grows along one axis only."""
    return 0.9 if (spec.model.n_layers == 2 if by_depth else spec.model.d_model == 64) else 0.3


@pytest.mark.parametrize(("number", "word", "world"), TABLE, ids=[f"{n}-{word}" for n, word, _ in TABLE])
def test_a_claim_follows_the_results(number: int, word: str, world: World) -> None:
    claim = CLAIMS[number]
    verdict = claim.judge(evidence(STUDIES[claim.study], world))
    assert verdict.finding.word == word, verdict.finding.numbers
    assert f"by rule {claim.version}: " in verdict.basis()
    assert verdict.to_json()["version"] == claim.version
    assert f"at scale laptop ({'copy, 26 letters' if number == 19 else 'MQAR V=64 L=32'}" in verdict.basis()
    json.dumps(verdict.to_json(), allow_nan=False)


def test_an_open_verdict_says_what_would_settle_it() -> None:
    nothing = CLAIMS[1].judge(Evidence("", "", {}))
    assert nothing.settled_by == "recollect run fig1 --scale laptop"
    assert "to settle it: recollect run fig1 --scale laptop" in nothing.basis()
    fig1 = evidence(STUDIES["fig1"], levels(other=0.2))
    undecided = CLAIMS[1].judge(fig1)
    assert (undecided.finding.word, undecided.settled_by) == ("open", "recollect run fig1 --scale desk")
    lacking = {
        "1 of the 3 seeds that it needs": lambda run: run.spec.seed == SEEDS[0],
        "0 of 3 cells have all their runs": lambda run: run.spec.train.lr in LRS[:5],
    }
    for told, kept in lacking.items():
        few = replace(fig1, runs={label: [*filter(kept, runs)] for label, runs in fig1.runs.items()})
        found = CLAIMS[1].judge(few)
        assert (found.finding.numbers, found.settled_by) == (told, "recollect run fig1 --scale laptop")
    theirs = replace(fig1, scale="laptop (attention)", runs={"attention": fig1.runs["attention"]})
    assert CLAIMS[1].judge(theirs).finding.numbers == "no runs yet: mamba; hyena"
    assert CLAIMS[1].judge(theirs).settled_by == ""
    assert CLAIMS[1].judge(replace(fig1, scale="paper")).finding.numbers == "0 of 72 cells have all their runs"
    assert CLAIMS[1].judge(replace(fig1, scale="paper (seeds 1 2 3)")).settled_by == ""
    assert CLAIMS[1].judge(replace(fig1, scale="laptop (seeds 1 2 3)")).settled_by == "recollect run fig1 --scale desk"
    elsewhere = CLAIMS[42].judge(evidence(STUDIES["gap"], levels(other=0.2)))
    assert elsewhere.settled_by == "recollect run gap --scale paper"  # it has no desk scale
    known = CLAIMS[28].judge(evidence(STUDIES["table2"], levels(attention=0.99, other=0.99)))
    assert (known.finding.word, known.to_json()["settled_by"]) == ("contradicted", "")


def shaped(loss: list[float], right: list[float]) -> Callable[[Record], Record]:
    """Runs with these curves, evenly over the budget."""

    def change(record: Record) -> Record:
        assert record.result is not None
        steps = [round(i * record.spec.train.steps / (len(loss) - 1)) for i in range(len(loss))]
        curves: dict[str, Any] = {"step": steps, "validation_loss": loss, "validation_accuracy": right}
        curves |= {"train_loss": loss, "train_accuracy": right}
        return replace(record, result={**record.result, "curves": curves})

    return change


SMOOTH = shaped([2.0 - 0.1 * i for i in range(20)], [0.05 * i for i in range(20)])
BREAK = shaped([2.0] * 10 + [0.5] * 10, [0.1] * 10 + [0.99] * 10)
STILL = shaped([2.0] * 20, [0.1] * 20)
COARSE = shaped([2.0, 2.0, 0.5, 0.5], [0.1, 0.1, 0.99, 0.99])
EARLY = shaped([2.0] + [0.2] * 19, [0.1] + [0.95] * 19)
SUDDEN = shaped([math.log(64)] + [math.log(4)] * 19, [0.1] * 20)
VAIN = shaped([math.log(64)] * 10 + [math.log(4)] * 10, [0.1] * 20)


@pytest.mark.parametrize(
    ("number", "curves", "top", "word"),
    [
        (20, SMOOTH, 0.99, "supported"),
        (20, BREAK, 0.99, "contradicted"),
        (21, SMOOTH, 0.99, "supported"),
        (22, VAIN, 0.2, "supported"),
        (22, BREAK, 0.99, "contradicted"),
        (23, BREAK, 0.99, "supported"),
        (23, SMOOTH, 0.99, "contradicted"),
        (20, SMOOTH, 0.4, "open"),
        (22, VAIN, 0.1, "open"),
        (22, STILL, 0.25, "contradicted"),
        (23, VAIN, 0.2, "contradicted"),
        (23, STILL, 0.2, "open"),
        (25, STILL, 0.2, "open"),
        (24, VAIN, 0.2, "open"),
        (20, COARSE, 0.99, "open"),
        (23, COARSE, 0.99, "open"),
        (25, COARSE, 0.99, "open"),
        (25, BREAK, 0.99, "supported"),
        (26, BREAK, 0.99, "open"),
        (20, EARLY, 0.99, "contradicted"),
        (23, EARLY, 0.99, "open"),
        (25, EARLY, 0.99, "open"),
        (22, SUDDEN, 0.25, "open"),
    ],
)
def test_a_claim_on_dynamics_follows_the_curves(
    number: int, curves: Callable[[Record], Record], top: float, word: str
) -> None:
    claim = CLAIMS[number]
    world = levels(attention_2_layers=max(top, 0.99) if number in (22, 24) else top, other=top)
    found = claim.judge(evidence(STUDIES[claim.study], world, curves))
    assert found.finding.word == word, found.finding.numbers


@pytest.mark.parametrize(("curves", "top", "word"), [(VAIN, 0.2, "supported"), (BREAK, 0.99, "contradicted")])
def test_rows_that_come_again_may_be_fitted(curves: Callable[[Record], Record], top: float, word: str) -> None:
    world = levels(attention_2_layers=0.99, other=top)
    whole = evidence(STUDIES["fig6"], world, curves, {"task.rows": 4096})
    assert CLAIMS[24].judge(replace(whole, scale="laptop (task.rows=4096)")).finding.word == word


@pytest.mark.parametrize("number", [6, 13, 16])
def test_a_part_of_a_study_is_not_judged_as_the_whole(number: int) -> None:
    """A light copy of a store that is under way has finished runs alone."""
    claim = CLAIMS[number]
    whole = evidence(STUDIES[claim.study], levels(attention=0.2, other=0.99))
    assert claim.judge(whole).finding.word != "open"
    widest = {label: [r for r in runs if r.spec.model.d_model == 64] for label, runs in whole.runs.items()}
    coarse = {
        label: [r for r in runs if r.spec.train.lr == runs[0].spec.train.lr] for label, runs in whole.runs.items()
    }
    for part in (widest, coarse):
        found = claim.judge(replace(whole, runs=part))
        assert found.finding.word == "open"
        assert found.finding.numbers.endswith("cells have all their runs")
        assert found.settled_by == f"recollect run {claim.study} --scale laptop"


@pytest.mark.parametrize(("odd", "word"), [((42,), "open"), (SEEDS, "contradicted")])
def test_one_seed_alone_decides_nothing(odd: tuple[int, ...], word: str) -> None:
    found = CLAIMS[6].judge(evidence(STUDIES["fig2"], lambda label, spec: 0.1 if spec.seed in odd else 0.99)).finding
    assert found.word == word
    assert found.numbers.startswith("contradicted, but not without seed 42: ") == (word == "open")


def test_a_changed_studys_search_has_to_be_over_too() -> None:
    """What `--set task.vocabulary=split --max-runs 1` leaves: a search of one run, and three seeds at its rate."""
    whole = evidence(STUDIES["table2"], levels(attention=0.02, other=0.99), fields={"task.vocabulary": "split"})
    changed = replace(whole, scale="laptop (task.vocabulary=split)")
    assert CLAIMS[28].judge(changed).finding.word == "supported"
    runs: dict[str, list[Record]] = {}
    for label, found in whole.runs.items():
        seeds = [replace(run, tells=ACCURACY) for run in found if run.spec.train.lr == found[0].spec.train.lr]
        search = record_of(found[0].spec.at(found[0].spec.train.lr, 7), 0.99, "partial")
        runs[label] = [replace(search, tells=WINDOW), *seeds]
    cut = CLAIMS[28].judge(replace(changed, runs=runs)).finding
    assert (cut.word, cut.numbers) == ("open", "0 of 2 cells have all their runs")


def test_runs_of_another_budget_under_the_same_name_do_not_judge(tmp_path: Path) -> None:
    """What a merge with a store of an earlier version, whose scale was another one, brings together."""
    cases = STUDIES["fig3"].cases("laptop"), STUDIES["fig3"].cases("laptop", Changes({"train.steps": 100}))
    made = [
        (case.label, record_of(case.spec, top, "partial"))
        for found, top in zip(cases, (0.99, 0.2), strict=True)
        for case in found
    ]
    path = fill(tmp_path / "s.db", [record for _, record in made])
    store = Store(path)
    for scale in ("laptop", "laptop (as it was)"):
        store.link("fig3", scale, {record.id: label for label, record in made})
    now, mixed = (one for one in ledger(Contents(store), studies=("fig3",)) if one.claim.number == 13)
    assert now.finding.word == "contradicted"
    assert "; 4,000 steps" in now.basis()
    told = "runs that differ in more than rate and seed are mixed: attention; mamba"
    assert mixed.finding == Finding("open", told)


def test_a_finer_grid_gains_nothing_on_one_seed_of_the_coarser() -> None:
    whole = evidence(STUDIES["fig2"], lambda label, spec: 0.95 if spec.train.lr in (1e-3, 4.73151e-3) else 0.6)
    assert CLAIMS[4].judge(whole).finding.word == "supported"
    few = {
        label: [r for r in runs if r.spec.seed == 42 or r.spec.train.lr not in ZOOLOGY.lrs]
        for label, runs in whole.runs.items()
    }
    found = CLAIMS[4].judge(replace(whole, runs=few)).finding
    assert (found.word, found.numbers) == ("open", "a cell lacks seeds at the best of Zoology's four learning rates")


@pytest.mark.parametrize(("best", "word"), [(1e-2, "contradicted"), (4.73151e-2, "open")])
def test_a_grid_whose_last_rate_is_its_best_contradicts_no_gain(best: float, word: str) -> None:
    level = {1e-2: 0.95, best: 0.951}
    found = CLAIMS[4].judge(evidence(STUDIES["fig2"], lambda label, spec: level.get(spec.train.lr, 0.6))).finding
    assert (found.word, "last that was tried" in found.numbers) == (word, word == "open")


def test_changed_studies_are_judged_or_left_open_and_raise_nothing() -> None:
    changes = {9: Changes(fields={"model.n_layers": 2}), 19: Changes(widths=(16, 24)), 7: Changes(widths=(8, 16))}
    for number, change in changes.items():
        study = STUDIES[CLAIMS[number].study]
        runs: dict[str, list[Record]] = {}
        for case in study.cases("laptop", replace(change, seeds=SEEDS)):
            runs.setdefault(case.label, []).append(record_of(case.spec, 0.99, "partial"))
        if number == 7:  # attention lacks the least width
            runs["attention"] = [run for run in runs["attention"] if run.spec.model.d_model > 8]
        assert CLAIMS[number].judge(Evidence(study.name, "laptop (changed)", runs)).finding.word == "open"


def test_a_hole_counts_for_nothing_where_windows_are_told_alike_or_hit() -> None:
    def islands(label: str, spec: RunSpec) -> float:
        if label == "deltanet" or (label == "mamba" and spec.model.n_layers > 2):
            return max(inside(spec, -3.8, -3.4), inside(spec, -1.6, -1.2))
        return inside(spec, -3.2, -1.8)

    for number, word in ((8, "open"), (38, "contradicted")):  # outermost edges would have them alike
        assert CLAIMS[number].judge(evidence(STUDIES[CLAIMS[number].study], islands)).finding.word == word
    broken = evidence(STUDIES["fig1"], lambda label, spec: max(inside(spec, -3.8, -3.45), inside(spec, -1.9, -1.4)))
    assert CLAIMS[3].judge(broken).finding.word == "supported"


def test_there_are_forty_two_claims_on_models_that_their_studies_have() -> None:
    assert list(CLAIMS) == list(range(1, 43))
    assert CLAIMS.find(28).number == 28
    for claim in CLAIMS.values():
        assert set(claim.test.labels) <= set(STUDIES[claim.study].models)


@pytest.mark.parametrize("level", [0.3, 0.99])
@pytest.mark.parametrize("number", CLAIMS)
def test_every_claim_comes_to_a_verdict_on_what_its_study_runs(number: int, level: float) -> None:
    claim = CLAIMS[number]
    study = STUDIES[claim.study]
    if set(claim.test.labels) <= {case.label for case in study.cells("laptop")}:
        found = claim.judge(evidence(study, levels(other=level))).finding
        assert found.word in ("supported", "contradicted", "open")
        assert "runs done" not in found.numbers
        assert "Place(" not in found.numbers


def test_missing_runs_or_seeds_leave_a_claim_open() -> None:
    whole = evidence(STUDIES["table2"], levels(attention=0.2, other=0.99))
    one_seed = {label: [run for run in runs if run.spec.seed == 42] for label, runs in whole.runs.items()}
    assert CLAIMS[28].judge(replace(whole, runs=one_seed)).finding.numbers == "1 of the 3 seeds that it needs"
    waiting = [replace(run, status="pending", result=None) for run in whole.runs["attention"]]
    half = CLAIMS[28].judge(replace(whole, runs={**whole.runs, "attention": waiting}))
    assert half.finding.word == "open"
    assert "of 18 runs done" in half.finding.numbers
    assert CLAIMS[28].judge(Evidence("", "", {})).finding.numbers == "no run of table2"
    alone = replace(whole, runs={"attention": whole.runs["attention"]})
    assert CLAIMS[28].judge(alone).finding.numbers == "no runs yet: attention + conv on QKV"
    older = CLAIMS[28].judge(replace(alone, scale="one that the study has no more"))
    assert older.finding.numbers == "not part of table2 at this scale: attention + conv on QKV"


@pytest.mark.parametrize("scale", ["laptop", "laptop (attention, as it is; mamba, as it is)"])
@pytest.mark.parametrize("number", [11, 42])
def test_a_part_of_the_switches_leaves_a_claim_on_all_of_them_open(number: int, scale: str) -> None:
    whole = evidence(STUDIES[CLAIMS[number].study], levels(mamba_as_it_is=0.2, other=0.99))
    assert CLAIMS[number].judge(whole).finding.word != "open"
    some = {label: runs for label, runs in whole.runs.items() if "as it is" in label or "gpt2" in label}
    found = CLAIMS[number].judge(replace(whole, scale=scale, runs=some)).finding
    assert found.word == "open"
    assert found.numbers.startswith("no runs yet: ")
    assert "no decay" in found.numbers
    assert "gpt2" not in found.numbers


def test_a_verdict_says_once_what_all_its_runs_share() -> None:
    same = CLAIMS[28].judge(evidence(STUDIES["table2"], levels(attention=0.2, other=0.99)))
    assert same.evidence.budget() == "MQAR V=64 L=32 K=4, d=64, 1 layer; 4,000 steps"
    assert same.finding.numbers.startswith("attention 20.0% (20.0% to 20.0%, n=3, lr ")
    other = CLAIMS[13].judge(evidence(STUDIES["fig3"], levels(other=0.2)))
    assert other.evidence.budget() == "MQAR V=64 L=32 K=4, 1 layer; 4,000 steps"
    assert "attention, d=16 20.0%" in other.finding.numbers
    named = CLAIMS[32].judge(evidence(STUDIES["conv"], levels(other=0.2)))
    assert named.finding.numbers.startswith("0 taps, 2 layers 20.0%")


def test_a_verdict_does_not_repeat_what_a_label_says_of_itself() -> None:
    mixed = evidence(STUDIES["fig6"], levels(other=0.2))
    deep, place = "attention, 2 layers", next(iter(mixed.of("attention, 2 layers")))
    assert mixed.name(deep, place) == deep
    assert mixed.name(deep, place._replace(n_layers=3)) == f"{deep}, 3 layers"
    assert mixed.name("attention", place._replace(n_layers=1)) == "attention, 1 layer"
    assert mixed.name("my.py:Mixer", place) == "my.py:Mixer, 2 layers"


class Memory:
    """Runs that no store holds."""

    def __init__(self, *found: Evidence) -> None:
        self.found = {(one.study, one.scale): one for one in found}

    def studies(self) -> list[tuple[str, str]]:
        """Each of them."""
        return list(self.found)

    def labelled(self, study: str, scale: str) -> list[tuple[str, Record]]:
        """One by one."""
        return [(label, run) for label, runs in self.found[study, scale].runs.items() for run in runs]


def test_the_ledger_judges_runs_from_anywhere_and_some_studies_only() -> None:
    runs = Memory(
        evidence(STUDIES["table2"], levels(attention=0.2, other=0.99)), evidence(STUDIES["conv"], levels(other=0.3))
    )
    assert [verdict.claim.number for verdict in ledger(runs)] == list(CLAIMS)
    some = ledger(runs, studies=("conv", "table4"))
    assert [(verdict.claim.number, verdict.evidence.study) for verdict in some] == [(32, "conv"), (36, "")]
    assert ledger(runs, "test", studies=("conv",))[0].evidence.budget().endswith("; lr chosen on the test rows")


def test_a_part_of_a_study_that_was_run_again_is_judged_only_where_it_has_the_models() -> None:
    whole = evidence(STUDIES["table2"], levels(attention=0.2, other=0.99))
    again = replace(whole, scale="laptop (attention)", runs={"attention": whole.runs["attention"]})
    judged = ledger(Memory(whole, again), studies=("table2",))
    assert {verdict.evidence.scale for verdict in judged} == {"laptop"}
    alone = ledger(Memory(again), studies=("table2",))
    assert [v.claim.number for v in alone] == [v.claim.number for v in judged]
    assert alone[0].finding.numbers == "no runs yet: attention + conv on QKV"


def test_the_ledger_is_printed_and_a_store_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("claims", "--json") == 2
    assert "no store at recollect.db" in capsys.readouterr().err
    store = Store(tmp_path / "recollect.db", create=True)
    found = evidence(STUDIES["table2"], levels(attention=0.2, other=0.99))
    for label, runs in found.runs.items():
        store.add([run.spec for run in runs])
        for run in runs:
            store.finish(run.id, run.result or {}, 1.0)
        store.link("table2", "laptop", {run.id: label for run in runs})
    assert {v.claim.number for v in ledger(Contents(store)) if v.finding.word == "supported"} == {28, 34, 35}
    store.close()
    assert call("claims", "28", "--json") == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["verdict"], entry["scale"]) == ("supported", "laptop")
    assert call("claims") == 0
    short = capsys.readouterr().out.splitlines()
    assert len(short) == len(CLAIMS) + 2
    assert short[28].split()[:3] == ["28", "supported", "laptop"]
    assert short[-1] == "3 supported, 2 contradicted, 37 open"
    rule = set(CLAIMS[28].rule.split())
    assert not rule <= set(" ".join(short).split())
    assert call("claims", "28", "--rules") == 0
    assert rule <= set(capsys.readouterr().out.split())
    assert call("claims", "43") == 2
    assert "there is no claim 43; allowed: 1 to 42" in capsys.readouterr().err


def call(*words: str) -> int:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0)
