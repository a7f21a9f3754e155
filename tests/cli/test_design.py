"""`recollect run --design window`: a study by search, its links, its figure, stopping and going on."""

from collections import Counter
from pathlib import Path

import pytest

from recollect.cli.display.board import Watcher
from recollect.spec.events import Event, Started
from recollect.store import ACCURACY, WINDOW, Contents, Store
from tests.cli.test_cli import call

Capsys = pytest.CaptureFixture[str]
STUDY = ("run", "fig1", "--scale", "smoke", "--executor", "inline")
SMOKE = (*STUDY, "--design", "window", "--max-runs", "3")
NAME = "smoke (attention; seeds 0 7; by search)"
WORDS = (*SMOKE, "--mixers", "attention", "--seeds", "0", "7")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("recollect.cli.running.carry.draw", lambda order, store: print(f"drawn: {order.what.scale}"))


def runs(name: str = NAME) -> list[tuple[int, str]]:
    """Seed and what it tells of, of every finished run of the study."""
    store = Store(Path("recollect.db"))
    found = [(run.spec.seed, run.tells) for _, run in Contents(store).labelled("fig1", name) if run.is_done]
    store.close()
    return sorted(found)


WHOLE = [(0, ACCURACY), (1, WINDOW), (2, WINDOW), (3, WINDOW), (7, ACCURACY)]


def test_a_study_by_search_says_of_every_run_what_it_tells_of(capsys: Capsys) -> None:
    code, out, err = call(capsys, *WORDS)
    assert (code, out) == (0, f"drawn: {NAME}\n")
    assert f"fig1 at scale {NAME}: at most 5 runs in 1 cell, 0 done" in err
    assert runs() == WHOLE
    assert call(capsys, *WORDS)[0] == 0
    assert runs() == WHOLE
    assert len(Store(Path("recollect.db")).statuses()) == len(WHOLE)


@pytest.mark.parametrize("after", [2, 4])
def test_it_goes_on_where_it_was_stopped(capsys: Capsys, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    heard: list[Event] = []

    def stop(self: Watcher, event: Event) -> None:
        heard.append(event)
        if sum(isinstance(one, Started) for one in heard) == after:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "hear", stop)
        assert call(capsys, *WORDS)[0] == 130
    assert len(runs()) == after - 1
    assert call(capsys, *WORDS)[0] == 0
    assert runs() == WHOLE
    begun = Store(Path("recollect.db")).record(heard[-1].run)
    assert begun is not None
    assert (begun.status, begun.attempt) == ("done", 2)


def test_runs_of_another_search_are_shared(capsys: Capsys) -> None:
    call(capsys, *WORDS)
    assert call(capsys, *SMOKE, "--mixers", "attention", "--seeds", "0", "7", "9")[0] == 0
    assert runs("smoke (attention; seeds 0 7 9; by search)") == [*WHOLE, (9, ACCURACY)]
    assert len(Store(Path("recollect.db")).statuses()) == len(WHOLE) + 1


def test_what_was_changed_is_in_the_name_and_stands_apart(capsys: Capsys) -> None:
    for word in ("split", "shared"):
        words = ("--mixers", "attention,mamba", "--set", f"task.vocabulary={word}", "--seeds", "0", "--max-runs", "1")
        assert call(capsys, *STUDY, "--design", "window", *words)[0] == 0
    store = Store(Path("recollect.db"))
    names = [f"smoke (attention,mamba; task.vocabulary={word}; seeds 0; by search)" for word in ("shared", "split")]
    assert [scale for _, scale in store.studies()] == names
    for name, word in zip(names, ("shared", "split"), strict=True):
        found = Contents(store).labelled("fig1", name)
        assert {label for label, _ in found} == {"attention", "mamba"}
        assert {run.spec.task.model_dump()["vocabulary"] for _, run in found} == {word}


def test_only_some_cells_searched_leave_the_others_in_the_study(capsys: Capsys) -> None:
    words = (*STUDY, "--design", "window", "--mixers", "attention,mamba", "--seeds", "0", "--max-runs")
    assert call(capsys, *words, "1")[0] == 0
    code, _, err = call(capsys, *words, "2", "--only", "mamba")
    assert (code, "in 1 cell" in err) == (0, True)
    found = Contents(Store(Path("recollect.db"))).labelled("fig1", "smoke (attention,mamba; seeds 0; by search)")
    assert [label for label, _ in found] == ["attention"] * 2 + ["mamba"] * 3
    assert call(capsys, *words, "2", "--only", "attention")[0] == 0
    found = Contents(Store(Path("recollect.db"))).labelled("fig1", "smoke (attention,mamba; seeds 0; by search)")
    assert [label for label, _ in found] == ["attention"] * 3 + ["mamba"] * 3, "in the study's order"


def test_the_best_rates_seeds_are_counted_alone_where_the_store_has_more(capsys: Capsys) -> None:
    words = (*STUDY, "--mixers", "attention", "--seeds", "0", "7", "--lrs", "1e-3", "1e-2")
    assert call(capsys, *words, "--design", "every")[0] == 0
    code, out, err = call(capsys, *words, "--design", "best")
    assert code == 0
    assert "3 runs, 3 done" in err
    assert "3 runs, 3 of them done before" in out


def test_a_part_of_the_best_rates_leaves_the_rest_to_come(capsys: Capsys) -> None:
    words = (*STUDY, "--mixers", "attention", "--seeds", "0", "7", "--lrs", "1e-3", "1e-2", "--design", "best")
    name = "smoke (attention; lrs 0.001 0.01; seeds 0 7; best rate)"
    assert call(capsys, *words, "--only", "lr 0.001")[0] == 0
    store = Store(Path("recollect.db"))
    assert sorted(store.statuses()[run] for run in store.labels("fig1", name)) == ["done", "done", "pending"]
    assert call(capsys, *words)[0] == 0
    assert {store.statuses()[run] for run in store.labels("fig1", name)} == {"done"}


def test_a_dry_run_says_what_every_design_costs(capsys: Capsys, tmp_path: Path) -> None:
    code, out, _ = call(capsys, *WORDS, "--dry-run")
    assert code == 0
    assert "fig1: at most 5 runs in 1 cell, 0 done" in out
    assert "--design: every 4, best 3, window 14 to 22 runs" in out
    assert "attention, lr 0.00316, seed 1 is next; 0 runs are there" in out
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_counts_the_runs_of_its_design(capsys: Capsys) -> None:
    few = ["run", "fig1", "--scale", "smoke", "--mixers", "attention", "--seeds", "0", "1", "--design", "best"]
    assert "fig1: 3 runs in 1 cell, 3 to do" in call(capsys, *few, "--dry-run")[1]
    assert call(capsys, *few, "--limit", "1", "--executor", "inline")[0] == 0
    assert "fig1: 3 runs in 1 cell, 2 to do" in call(capsys, *few, "--dry-run")[1]
    assert call(capsys, *few, "--executor", "inline")[0] == 0
    assert "fig1: 3 runs in 1 cell, 0 to do" in call(capsys, *few, "--dry-run")[1]


def test_a_sweep_file_can_be_searched_too(capsys: Capsys, tmp_path: Path) -> None:
    from tests.cli.test_run import SWEEP

    (tmp_path / "sweep.yaml").write_text(SWEEP)
    code, out, _ = call(capsys, "run", "sweep.yaml", "--design", "window", "--dry-run")
    assert code == 0, out
    assert "is next; 0 runs are there" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--design", "window", "--limit", "3"), "a search does not know its runs beforehand"),
        (("--design", "window", "--max-runs", "0"), "--max-runs: must be at least 1"),
        (("--design", "every", "--max-runs", "5"), "--max-runs is for --design window"),
        (("--design", "window", "--lrs", "1e-3", "2e-3"), "less than half a decade"),
    ],
)
def test_what_cannot_be_meant_is_refused(capsys: Capsys, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    code, out, err = call(capsys, *STUDY, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_compared_cells_get_more_runs_only_where_they_may_be_wider(capsys: Capsys) -> None:
    labels = ("mamba, as it is", "mamba, Muon", "mamba, mimetic")
    words = ("run", "remedies", "--scale", "smoke", "--executor", "inline", "--design", "window", "--mixers", *labels)
    code, out, err = call(capsys, *words, "--set", "train.steps=2", "--seeds", "0")
    assert code == 0, err
    (_, name) = Store(Path("recollect.db")).studies()[0]
    assert out == f"drawn: {name}\n"
    found = Contents(Store(Path("recollect.db"))).labelled("remedies", name)
    counts = Counter(label for label, run in found if run.tells == WINDOW)
    assert counts == dict.fromkeys(labels, 12), "nothing is learned in two steps, so nothing is wider"
    assert Counter(label for label, run in found if run.tells == ACCURACY) == dict.fromkeys(labels, 1)
    out = call(capsys, *words, "--set", "train.steps=2", "--seeds", "0", "--only", "mimetic", "--dry-run")[1]
    assert "at most 50 runs in 2 cells, 26 done" in out, "chosen alone, a cell is searched as among the others"


def test_what_a_chosen_cell_is_compared_with_comes_along(capsys: Capsys) -> None:
    words = (
        "run",
        "remedies",
        "--scale",
        "smoke",
        "--executor",
        "inline",
        "--design",
        "window",
        "--only",
        "mamba, Muon",
    )
    assert call(capsys, *words, "--set", "train.steps=2", "--seeds", "0")[0] == 0
    (_, name) = Store(Path("recollect.db")).studies()[0]
    found = Contents(Store(Path("recollect.db"))).labelled("remedies", name)
    assert Counter(label for label, _ in found) == {"mamba, as it is": 13, "mamba, Muon": 13}, "with their seeds"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("table2", "--set", "train.lr=0.5"), "--set train.lr: a study has several; --lrs names others"),
        (("table2", "--set", "seed=7"), "--set seed: a study has several; --seeds names others"),
        (("table2", "--set", "model.d_model=8", "--widths", "16"), "--set model.d_model: --widths gives it already"),
        (("fig7", "--set", "model.n_layers=3"), "'attention, 2 layers' has 2; --mixers names others"),
        (("table2", "--design", "window", "--diagnostics"), "--diagnostics: a search does not look inside"),
    ],
)
def test_what_a_study_would_not_do_is_refused(capsys: Capsys, words: tuple[str, ...], told: str) -> None:
    code, _, err = call(capsys, "run", *words, "--scale", "smoke")
    assert (code, told in err) == (2, True), err
    assert not Path("recollect.db").exists()


def test_a_shard_looks_into_what_was_only_trained(capsys: Capsys) -> None:
    words = (*STUDY, "--design", "every", "--mixers", "attention", "--seeds", "0", "--lrs", "1e-3")
    assert call(capsys, *words)[0] == 0
    assert "all its runs are done" in call(capsys, *words, "--shard", "1/1")[1]
    assert "all its runs are done" not in call(capsys, *words, "--shard", "1/1", "--probe", "--dry-run")[1]
