"""The paper as code: every study at every scale is a list of specs, and runs."""

from pathlib import Path

import pytest

from recollect.claims import ledger
from recollect.cli import main
from recollect.errors import BadInput
from recollect.report import draw_study
from recollect.spec.compose import flatten
from recollect.spec.protocols import ZOOLOGY
from recollect.store import Contents, Store
from recollect.studies import SCALES, STUDIES, Changes, Study
from recollect.studies.confounders import SWITCHES
from recollect.studies.fig2 import replicated
from recollect.studies.remedies import REMEDIES
from recollect.studies.scales import SPAN
from recollect.studies.switches import reference, switched
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Inline
from recollect.window.select import choose
from tests.support.cases import all_cases

OURS = [study for study in STUDIES.values() if study.name != "demo"]
PAPERS = [f"fig{i}" for i in (1, 2, 3, 4, 5, 6, 7, 11, 12, 13)] + [f"table{i}" for i in (1, 2, 3, 4)]


def test_every_figure_and_table_of_the_paper_is_a_study() -> None:
    assert {study.name for study in OURS} == {
        *PAPERS,
        "conv",
        "confounders",
        "gap",
        "remedies",
        "map",
        "zoo",
        "inside",
        "compare",
    }
    assert [study.name for study in STUDIES.values()] == list(STUDIES)
    assert all(study.question for study in STUDIES.values())
    with pytest.raises(BadInput, match=r"study: unknown name 'fig14'.*did you mean 'fig4'"):
        STUDIES.find("fig14")


@pytest.mark.parametrize("study", OURS, ids=lambda study: study.name)
def test_a_study_has_scales_of_distinct_runs(study: Study) -> None:
    switches = ("smoke", "laptop", "paper")
    own = {"zoo": SCALES[:2], "compare": SCALES[:3]}
    own |= dict.fromkeys(("confounders", "gap", "remedies"), switches)
    assert tuple(study.scales) == own.get(study.name, SCALES)
    for scale in study.scales:
        cells, cases = study.cells(scale), all_cases(study.name, scale)
        sized = study.scales[scale]
        rates = {(case.spec.train.lr, case.spec.seed) for case in cases if not study.models[case.label].lrs}
        assert len({case.spec.cell for case in cells}) == len(cells)
        assert len(rates) == len(sized.lrs) * len(sized.seeds)
        assert len(cases) == sum(len(study.lrs(cell.label, sized)) for cell in cells) * len(sized.seeds)
        assert {case.label for case in cases} <= set(study.models)


@pytest.mark.parametrize("study", OURS, ids=lambda study: study.name)
def test_a_study_says_that_it_fits_on_a_laptop(study: Study) -> None:
    longer = {"fig13": 240, "map": 360, "zoo": 360, "confounders": 600, "remedies": 600}  # deep or many, by search
    assert 0 < study.minutes["laptop"] <= longer.get(study.name, 120)
    assert len(study.scales["laptop"].seeds) == 3
    assert all(len(sized.seeds) >= 3 for scale, sized in study.scales.items() if scale != "smoke")
    assert "desk" not in study.scales or 0 < study.minutes["desk"] <= 24 * 60


def test_the_paper_scale_of_figure_1_is_the_papers() -> None:
    specs = [case.spec for case in all_cases("fig1", "paper")]
    assert {(s.task.length, s.task.n_pairs, s.train.batch_size) for s in specs} == {
        (64, 4, 512),
        (128, 8, 512),
        (256, 16, 256),
        (512, 64, 128),
    }
    assert {s.model.d_model for s in specs} == {64, 128, 256, 512, 1024, 2048}
    assert [*dict.fromkeys(s.seed for s in specs)] == [42, 123, 777, 456, 789]
    assert {s.train.steps / -(-100_000 // s.train.batch_size) for s in specs} == {50}
    assert {(s.task.vocab_size, s.task.rows) for s in specs} == {(8192, 100_000)}
    assert len(specs) == 3 * 4 * 6 * 17 * 5


def test_figures_11_and_12_reuse_the_runs_of_2_and_3() -> None:
    for small, large in (("fig2", "fig11"), ("fig3", "fig12"), ("table2", "table3")):
        one, other = STUDIES[small], STUDIES[large]
        assert {case.spec.cell for case in one.cells("paper")} < {case.spec.cell for case in other.cells("paper")}
        assert one.scales["paper"] == other.scales["paper"]


def test_a_switch_says_whether_it_changes_training_model_or_task() -> None:
    parts: dict[str, list[str]] = {}
    for name, switch in SWITCHES.items():
        parts.setdefault(str(switch.part), []).append(name)
    assert parts == {
        "None": ["as it is"],
        "training": [
            *("init gpt2", "decay on matrices", "no decay", "fresh rows", "no warm-up", "constant rate"),
            *("clip at 1", "no clipping", "beta2 0.95"),
        ],
        "model": ["with MLP", "without MLP", "dropout 0.1", "2 heads"],
        "task": ["vocabulary split", "vocabulary shared", "random filler"],
    }
    assert list(switched(SWITCHES, "mamba", part="training")) == [f"mamba, {name}" for name in parts["training"]]
    assert "mamba, 2 heads" not in switched(SWITCHES, "attention", "mamba")


@pytest.mark.parametrize("study", ["confounders", "remedies"])
def test_a_switch_is_compared_with_the_same_mixer_as_it_is(study: str) -> None:
    for scale, sized in STUDIES[study].scales.items():
        assert scale == "smoke" or (sized.design, sized.span) == ("window", SPAN)
        cells = {cell.label: cell for cell in STUDIES[study].cells(scale)}
        for label, cell in cells.items():
            plain = cells[reference(label)]
            assert plain.against is None
            assert cell.against == (None if cell == plain else plain.spec)
            assert cell.spec.model.mixer_name == label.partition(",")[0]


def test_every_remedy_changes_what_it_says_and_nothing_else() -> None:
    cells = {cell.label: cell.spec for cell in STUDIES["remedies"].cells("laptop")}
    assert {label for label in cells if label.startswith("mamba")} == {
        "mamba, as it is",
        *(f"mamba, {name}" for name, switch in REMEDIES.items() if switch.mixers != ("attention",)),
    }
    assert "attention, QK-norm" in cells
    assert "attention, dynamics at 0.1 lr" not in cells
    for label, spec in cells.items():
        plain, name = cells[reference(label)], label.partition(", ")[2]
        one, other = flatten(spec.model_dump()), flatten(plain.model_dump())
        changed = {key: value for key, value in one.items() if other[key] != value}
        assert changed == (dict(REMEDIES[name].fields) if name in REMEDIES else {})


def test_a_user_changes_anything() -> None:
    study = STUDIES["fig1"]
    changes = Changes({"task.n_pairs": 2}, ("mamba",), (16,), (1e-3,), (5, 6))
    cases = study.cases("laptop", changes)
    assert [(case.label, case.spec.seed) for case in cases] == [("mamba", 5), ("mamba", 6)]
    assert {(case.spec.task.n_pairs, case.spec.model.d_model, case.spec.train.lr) for case in cases} == {(2, 16, 1e-3)}
    with pytest.raises(BadInput, match=r"--mixers: unknown name 'mambo'.*did you mean 'mamba'"):
        study.cases("laptop", Changes(mixers=("mambo",)))
    with pytest.raises(BadInput, match=r"unknown name 'mamba, mimetik'; did you mean 'mamba, mimetic'"):
        STUDIES["remedies"].cases("laptop", Changes(mixers=("mamba, mimetik",)))


@pytest.mark.parametrize("study", ["fig2", "fig11"])
@pytest.mark.parametrize("scale", ["laptop", "desk", "paper"])
def test_a_replication_is_trained_as_zoology_did_in_the_sizes_of_the_scale(study: str, scale: str) -> None:
    cases = all_cases(study, scale)
    theirs = [case.spec for case in cases if case.label == replicated("mamba")]
    ours = [case.spec for case in cases if case.label == "mamba"]
    assert {spec.train.lr for spec in theirs} == set(ZOOLOGY.lrs) < {spec.train.lr for spec in ours}
    assert {spec.seed for spec in theirs} == {spec.seed for spec in ours}
    assert {(spec.model.init, spec.train.warmup_steps, spec.train.stop_split) for spec in theirs} == {
        ("zoology-legacy", 0, "test")
    }
    sizes = [
        {(spec.task.short(), spec.task.rows, spec.model.d_model, spec.train.batch_size) for spec in found}
        for found in (theirs, ours)
    ]
    assert sizes[0] == sizes[1]
    assert {spec.task.model_dump()["vocabulary"] for spec in theirs} == {"split"}
    budgets = [{spec.train.steps for spec in found} for found in (theirs, ours)]
    assert (budgets[0] == budgets[1]) == (scale != "paper"), "at the paper's scale each has its own epochs"


@pytest.mark.parametrize(("given", "steps"), [("train.epochs", 16 * 196), ("train.steps", 16)])
def test_a_users_budget_wins_over_the_scales_in_either_word(given: str, steps: int) -> None:
    cases = STUDIES["fig1"].cases("desk", Changes({given: 16, "task.vocabulary": "split"}))
    assert {(case.spec.train.steps, case.spec.task.model_dump()["vocabulary"]) for case in cases} == {(steps, "split")}


def test_changed_runs_stand_beside_the_studys_own_and_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "fig1", "--scale", "smoke", "--mixers", "attention", "--seeds", "7", "--executor", "inline"]
    with pytest.raises(SystemExit) as end:
        main(words)
    assert not end.value.code
    assert "0 supported, 0 contradicted, 3 open" in capsys.readouterr().out
    store = Store(tmp_path / "recollect.db")
    assert len(store.labels("fig1", "smoke (attention; seeds 7)")) == 2
    assert not store.labels("fig1", "smoke")
    store.close()


def test_long_seeds_and_near_rates_keep_changed_studies_apart() -> None:
    assert str(Changes(seeds=(20260101, 20260102))) == "seeds 20260101 20260102"
    assert str(Changes(lrs=(1e-3, 0.00316228, 1e-5), widths=(64,))) == "widths 64; lrs 0.001 0.00316228 1e-05"
    assert str(Changes(lrs=(1.0000001e-3,))) != str(Changes(lrs=(1e-3,)))


def test_the_other_seeds_may_be_kept_for_the_best_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "fig1", "--scale", "smoke", "--mixers", "attention", "--seeds", "1", "2", "3", "--design", "best"]
    with pytest.raises(SystemExit) as end:
        main([*words, "--executor", "inline"])
    assert not end.value.code
    store = Store(tmp_path / "recollect.db")
    runs = store.records(study="fig1")
    choice = choose([run for run in runs if run.spec.seed == 1])
    assert choice is not None
    assert sorted((run.spec.train.lr, run.spec.seed) for run in runs) == sorted(
        [(1e-3, 1), (1e-2, 1), (choice.lr, 2), (choice.lr, 3)]
    )
    assert set(store.statuses()) == set(store.labels("fig1", "smoke (attention; seeds 1 2 3; best rate)"))
    store.close()


def test_all_studies_run_at_smoke_scale(tmp_path: Path) -> None:
    store = Store(tmp_path / "recollect.db", create=True)
    cases = {study.name: study.cases("smoke") for study in STUDIES.values()}
    sweep(Grid([case.spec for found in cases.values() for case in found]), Inline(), store)
    assert set(store.statuses().values()) == {"done"}
    for study in STUDIES.values():
        store.link(study.name, "smoke", {case.spec.id: case.label for case in cases[study.name]})
        for file in draw_study(study, "smoke", Contents(store), tmp_path):
            assert file.stat().st_size > 0
    verdicts = ledger(Contents(store))
    assert {verdict.claim.number for verdict in verdicts} == set(range(1, 43))
    assert {verdict.finding.word for verdict in verdicts} == {"open"}
    store.close()
