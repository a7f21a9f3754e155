"""`recollect compare`: a user's mixer beside others, from its contract to a table, a figure and a page."""

import json
from pathlib import Path

import pandas as pd
import pytest

import recollect
from recollect.cli import main
from recollect.errors import BadInput
from recollect.store import Store, merge
from recollect.studies import Changes
from recollect.sweep.comparison import Comparison
from tests.cli.test_cli import call
from tests.support.places import ROOT

MINE = "mine.py:GatedAverage"
QUICK = ["--scale", "smoke", "--executor", "inline", "--max-runs", "3"]
SMALL = [*QUICK, "--against", "attention"]
RUNS = 2 * (3 + 1 + 2 * 3)  # two models: three searched runs and a seed, two widths at three rates
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def lent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the runs of the other model."""
    file = tmp_path_factory.mktemp("lent") / "lent.db"
    with pytest.raises(SystemExit):
        main(["compare", *SMALL, "--store", str(file), "--out", str(file.parent)])
    return file


@pytest.fixture(autouse=True)
def _mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text((ROOT / "examples/my_mixer.py").read_text())


def test_one_command_makes_a_table_a_figure_and_a_page(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = call(capsys, "compare", MINE, *SMALL)
    assert code == 0, err
    assert f"compare ({MINE}; attention): 6 cells, at most {RUNS} runs to do; 0 are there" in out
    assert "time: about" in out
    assert "trained without the exceptions that the protocol laptop makes" in err
    written = {file.name for file in Path("figures").iterdir()}
    assert {f"compare.{end}" for end in ("png", "pdf", "svg", "csv", "md", "tex")} | {"report.html"} <= written
    frame = pd.read_csv("figures/compare.csv")
    assert list(frame["model"]) == [MINE, "attention"]
    assert {"accuracy_8", "accuracy_16", "accuracy_32", "ms", "kept_mb", "state", "params"} <= set(frame.columns)
    assert frame["state"].isna().tolist() == [True, False]  # nobody says what a foreign mixer remembers
    assert "unknown" in out
    drawn = Path("figures/compare.svg").read_text()
    written_down = Path("figures/compare.md").read_text().splitlines()
    head, _, *rows = ([word.strip() for word in line.split("|")] for line in written_down)
    shown = [dict(zip(head, row, strict=True)) for row in rows]
    assert all(f"<!-- {row['ms']} -->" in drawn for row in shown)  # as measured here, not as the runs took
    assert [float(row["ms"]) for row in shown] == pytest.approx(list(frame["ms"]), abs=0.051)
    assert "<!-- MB -->" in drawn
    pasted = Path("figures/compare.tex").read_text()
    assert r"mine.py:GatedAverage & " in pasted
    assert f"${100 * frame['accuracy_8'][0]:.1f}" in pasted
    assert r"\%" not in pasted.split(r"\midrule")[1]
    assert len(Store(Path("recollect.db")).done()) == RUNS

    monkeypatch.setattr("recollect.sweep.executors.Inline.submit", lambda *_: pytest.fail("trained again"))
    monkeypatch.setenv("COLUMNS", "20")
    code, again, _ = call(capsys, "compare", MINE, *SMALL, "--json")
    assert code == 0
    assert again.count("\n") == 1  # a name that is wrapped is no JSON
    assert [row["model"] for row in json.loads(again)] == [MINE, "attention"]
    assert not Store(Path("recollect.db")).labels("compare", "smoke")


def test_the_usual_others_need_no_training() -> None:
    """Nothing that changes ids or numbers may make the shipped runs useless in silence."""
    usual = Comparison.of([], [], "laptop", Changes())
    runs = usual.shipped()
    assert {label for label, cell in usual.cells if cell.next(runs, [])} == set()
    assert {len(cell.known(runs)) for _, cell in usual.cells[:3]} == {23}
    assert {len(cell.known(runs)) for _, cell in usual.cells[3:]} == {5}


@pytest.fixture
def _shipped(lent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These runs come with the package."""
    monkeypatch.setattr("recollect.sweep.comparison.REFERENCES", lent)


@pytest.mark.usefixtures("_shipped")
def test_runs_that_come_with_the_package_are_not_trained(capsys: Capsys, lent: Path) -> None:
    assert "3 cells, at most 0 runs to do; 10 are there" in call(capsys, "compare", *SMALL, "--dry-run")[1]
    assert not Path("recollect.db").exists()
    code, out, _ = call(capsys, "compare", MINE, *SMALL)
    assert code == 0
    assert f"at most {RUNS // 2} runs to do; {RUNS // 2} are there" in out
    assert "runs that come with recollect: attention" in out
    mine, theirs = ({run.id: run.result for run in Store(file).records()} for file in (Path("recollect.db"), lent))
    assert theirs.items() <= mine.items()
    assert Store(Path("recollect.db")).studies() == [("compare", f"smoke ({MINE}; attention)")]


@pytest.mark.usefixtures("_shipped")
def test_other_sizes_take_nothing_from_the_package(capsys: Capsys) -> None:
    out = call(capsys, "compare", *SMALL, "--d-model", "64", "--dry-run")[1]
    assert "none of these models at these sizes" not in out  # a half of 64 is what was searched
    out = call(capsys, "compare", *SMALL, "--set", "train.batch_size=2", "--dry-run")[1]
    assert "none of these models at these sizes" in out


def test_only_the_finished_runs_of_wanted_cells_are_merged(lent: Path) -> None:
    into, theirs = Store(Path("into.db"), create=True), Store(lent).records()
    one = min(record.cell for record in theirs)
    assert merge(into, lent, {one}).new == sum(record.cell == one for record in theirs)
    assert {record.cell for record in into.records()} == {one}
    assert not into.studies()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["attention", "--against", "attention"], "compare: 'attention' is on both sides; give every model once"),
        ([MINE, MINE], f"compare: '{MINE}' is called '{MINE}', as another model is"),
        ([MINE, "--against", "mambo"], "did you mean 'mamba'"),
        (["nothing.py:M"], "nothing.py"),
        ([MINE, "--like", "mambo"], "compare: like: unknown name 'mambo'"),
        (["gla", "--like", "attention"], "compare: like attention is for a mixer of yours"),
        ([MINE, "--set", "model.d_model=32"], "compare: model.d_model cannot be set; the width is given as d_model"),
        (
            ["mamba,mamba", "--set", "model.n_layers=3"],
            "compare: model.n_layers cannot be set; mixers joined by commas",
        ),
        ([MINE, "--allow-noncausal", "--set", "model.noncausal=false"], "an option gives it already, as True"),
        ([MINE, "--dry-run", "--json"], "--json: a dry run has no results to print"),
        ([MINE, "--max-runs", "0"], "--max-runs: must be at least 1 (got 0)"),
        ([MINE, "--width", "0.1"], "--width: must be from 1 to 40 inches"),
        ([MINE, "--scale", "vast"], "vast"),
        ([MINE, "--panel", "outcomes"], "--panel: a figure of kind 'compare' has no 'outcomes'; it has main"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(capsys: Capsys, words: list[str], told: str) -> None:
    code, _, err = call(capsys, "compare", *words)
    assert code == 2
    assert told in err
    assert err.count("\n") == 1
    assert not Path("recollect.db").exists()


def test_a_mixer_that_looks_ahead_is_refused_before_anything_is_written(capsys: Capsys) -> None:
    Path("ahead.py").write_text(Path("mine.py").read_text().replace(".tril()", ""))
    code, _, err = call(capsys, "compare", "ahead.py:GatedAverage", *SMALL)
    assert code == 2
    assert "causal" in err or "ahead" in err
    assert not Path("recollect.db").exists()


def test_layers_are_joined_by_commas(capsys: Capsys) -> None:
    words = ["compare", "attention,mamba", "mamba,mamba", *SMALL, "--dry-run"]
    assert "compare (attention + mamba; mamba, 2 layers; attention): 9 cells" in call(capsys, *words)[1]


def test_from_python_the_same_table_comes_back() -> None:
    found = recollect.compare_mixers(
        MINE, against=["attention"], scale="smoke", max_runs=3, store="p.db", executor="inline"
    )
    assert list(found["model"]) == [MINE, "attention"]
    assert len(Store(Path("p.db")).done()) == RUNS
    assert found["accuracy_32"].between(0, 1).all()


def test_from_python_a_comparison_is_refused_in_words_that_python_has() -> None:
    with pytest.raises(BadInput, match="compare: like: unknown name 'mambo'; did you mean 'mamba'"):
        recollect.compare_mixers(MINE, like="mambo")
    with pytest.raises(BadInput, match="the width is given as d_model"):
        recollect.compare_mixers(MINE, fields={"model.d_model": 8})
    with pytest.raises(BadInput, match=r"model\.d_model: input should be greater than 0 \(got -8\)"):
        recollect.compare_mixers("gla", d_model=-8)
