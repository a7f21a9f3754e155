"""`recollect run` on sweep files, and the commands that look at what it did."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import recollect
from recollect.cli.display.board import Board, Watcher, duration
from recollect.cli.status import standings
from recollect.errors import BadInput
from recollect.spec.events import Done, Failed, Lost, Point, Progressed, Started
from recollect.store import Store
from recollect.store.lock import Writer, lock
from recollect.store.merge import merge
from tests.cli.test_cli import call
from tests.support.invented import result_of
from tests.support.places import TROUBLE
from tests.support.small import tiny

SWEEP = """
task: {name: mqar, vocab_size: 20, length: 8, n_pairs: 2, validation_rows: 40, test_rows: 40}
mixer: [attention, lstm]
lr: {log: [1e-2, 1e-1], n: 2}
model: {d_model: 8, n_layers: 1}
train: {steps: 4, batch_size: 8, eval_every: 4, stop_accuracy: null}
seed: [1, 2]
"""
RUN = ("run", "sweep.yaml", "--executor", "inline")
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(capsys: Capsys, tmp_path: Path) -> None:
    code, out, _ = call(capsys, *RUN, "--dry-run")
    assert code == 0
    assert "sweep: 8 runs in 2 cells, 8 to do" in out
    assert "parameters: " in out
    assert "time: about " in out
    assert out.count("  train: lr ") == 3
    assert {file.name for file in tmp_path.iterdir()} == {"sweep.yaml"}
    call(capsys, *RUN, "--limit", "3")
    assert "8 runs in 2 cells, 5 to do" in call(capsys, *RUN, "--dry-run")[1]
    assert "time" not in call(capsys, *RUN, "--dry-run", "--limit", "0")[1]


def test_limit_and_only_choose_runs_and_the_rest_comes_later(capsys: Capsys) -> None:
    assert "1 runs, 0 of them done before" in call(capsys, *RUN, "--limit", "1")[1]
    found = json.loads(call(capsys, "status", "--json")[1])["studies"]
    assert [(one["study"], one["statuses"]["done"], one["total"]) for one in found] == [("sweep", 1, 8)]
    assert call(capsys, *RUN, "--only", "lstm, lr 0.1")[0] == 0
    assert "4 runs, 2 of them done before" in call(capsys, *RUN, "--only", "lstm")[1]
    assert "8 runs, 5 of them done before" in call(capsys, *RUN)[1]
    assert "8 runs, 8 of them done before" in call(capsys, *RUN)[1]


def test_a_changed_file_forgets_what_it_no_longer_wants_and_never_began(capsys: Capsys, tmp_path: Path) -> None:
    call(capsys, *RUN, "--limit", "1")
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("[1, 2]", "3"))
    call(capsys, *RUN)
    studies = json.loads(call(capsys, "status", "--json")[1])["studies"]
    assert {one["study"]: one["statuses"]["done"] for one in studies} == {"": 1, "sweep": 4}


def test_a_run_that_raises_is_exit_code_1_and_is_shown(capsys: Capsys, tmp_path: Path) -> None:
    trouble = TROUBLE.read_text()
    (tmp_path / "trouble.py").write_text(trouble)
    text = SWEEP.replace("[attention, lstm]", "[attention, {name: trouble.py:Trouble, kind: raise}]")
    (tmp_path / "sweep.yaml").write_text(text.replace("[1, 2]", "1").replace("{log: [1e-2, 1e-1], n: 2}", "0.1"))
    code, _, errors = call(capsys, *RUN)
    assert code == 1
    assert "raised: RuntimeError: trouble in mid-training" in errors
    (failed,) = Store(tmp_path / "recollect.db").records(status="failed")
    assert "Traceback" in call(capsys, "show", failed.id)[1]
    (study,) = json.loads(call(capsys, "status", "--json")[1])["studies"]
    assert (study["statuses"]["done"], study["statuses"]["failed"]) == (1, 1)


def test_looking_at_a_sweep(capsys: Capsys, tmp_path: Path) -> None:
    call(capsys, *RUN)
    out = call(capsys, "status")[1]
    assert "nobody is writing" in out
    assert "sweep" in out
    record = Store(tmp_path / "recollect.db").records()[0]
    assert "train.lr = " in call(capsys, "show", record.id)[1]
    cell = call(capsys, "show", record.cell)[1]
    assert f"cell {record.cell}: 4 runs, 4 of them done" in cell
    assert "train.lr =" not in cell
    assert len(json.loads(call(capsys, "show", record.cell, "--json")[1])) == 4


def test_a_second_coordinator_is_refused_and_changes_nothing(capsys: Capsys, tmp_path: Path) -> None:
    call(capsys, *RUN, "--limit", "1")
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("[1, 2]", "3"))
    with lock(tmp_path / "recollect.db"):
        code, _, err = call(capsys, *RUN)
        assert "written by process" in call(capsys, "status")[1]
        assert call(capsys, "store", "delete", "0", "--store", "recollect.db")[0] == 2
    assert code == 2
    assert f"is being written by process {os.getpid()} on" in err
    (study,) = json.loads(call(capsys, "status", "--json")[1])["studies"]
    assert study["total"] == 8


@pytest.fixture
def swept(capsys: Capsys, tmp_path: Path) -> Iterator[Store]:
    call(capsys, *RUN)
    store = Store(tmp_path / "recollect.db")
    yield store
    store.close()


def test_export_writes_every_run_in_every_format(capsys: Capsys, swept: Store, tmp_path: Path) -> None:
    expected = recollect.results(swept.path)
    assert len(expected) == 8
    assert call(capsys, "export", "--csv", "out.csv")[1] == "out.csv: 8 rows\n"
    assert list(pd.read_csv("out.csv")["id"]) == list(expected["id"])
    rows = json.loads(call(capsys, "export", "--json")[1])
    assert [row["test_loss"] for row in rows] == list(expected["test_loss"])
    assert {row["model.mixer.n_heads"] for row in rows} == {1, None}
    assert "id,cell,mixer" in call(capsys, "export", "--csv", "--study", "sweep")[1]
    assert len(recollect.curves(swept.path)) == 16
    assert call(capsys, "export", "--csv", "--curves")[1].startswith("id,step,")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")
    assert call(capsys, "export", "out.parquet")[0] == 0
    assert list(pd.read_parquet("out.parquet")["test_accuracy"]) == list(expected["test_accuracy"])


def test_merge_brings_every_run_once_with_its_weights(capsys: Capsys, swept: Store, tmp_path: Path) -> None:
    half = [record.id for record in swept.records()[:3]]
    assert "8 runs came from recollect.db" in call(capsys, "store", "merge", "all.db", "recollect.db")[1]
    call(capsys, "store", "delete", *half, "--store", "all.db")
    assert "3 runs came from recollect.db" in call(capsys, "store", "merge", "all.db", "recollect.db")[1]
    merged = Store(tmp_path / "all.db")
    assert {r.id: r.result for r in merged.records(curves=True)} == {r.id: r.result for r in swept.records(curves=True)}
    assert merged.labels("sweep", "") == swept.labels("sweep", "")
    assert recollect.load(half[0], store=tmp_path / "all.db").record.status == "done"


def test_merge_prefers_what_is_finished_and_says_what_differs(swept: Store, tmp_path: Path) -> None:
    first, second = swept.records()[:2]
    other = Store(tmp_path / "other.db", create=True)
    other.add([first.spec, second.spec, tiny()])
    other.start(tiny().id, {})
    other.finish(second.id, result_of(second.spec, 1.0, "solved"), 1.0)
    assert merge(other, swept.path).new == 7
    done = {record.id: record.outcome for record in other.records(status="done")}
    assert len(done) == 8
    assert done[second.id] == "solved"
    assert merge(other, swept.path).different == 1
    assert other.statuses()[tiny().id] == "pending"
    with pytest.raises(BadInput, match="is the same store"):
        merge(other, other.path)


def test_a_light_copy_has_the_finished_runs_without_their_weights(capsys: Capsys, swept: Store, tmp_path: Path) -> None:
    swept.add([tiny()])
    assert "8 runs came from recollect.db" in call(capsys, "store", "merge", "--light", "all.db", "recollect.db")[1]
    copied = Store(tmp_path / "all.db")
    assert {r.id: r.result for r in copied.records(curves=True)} == {
        r.id: r.result for r in swept.records(status="done", curves=True)
    }
    assert copied.labels("sweep", "") == swept.labels("sweep", "")
    assert not any(copied.folder(run.id).exists() for run in copied.records())


def test_a_loaded_mixer_is_the_one_that_was_trained(capsys: Capsys, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TROUBLE.read_text())
    record = recollect.run(tiny(f"{file}:Trouble"), store=tmp_path / "recollect.db")
    file.write_text("1 / 0")
    with pytest.raises(
        BadInput, match=r"its mixer .* is code of the copy .* in the store's folder; load it with trust=True"
    ):
        recollect.load(record.id, store=tmp_path / "recollect.db")
    assert recollect.load(record.id, store=tmp_path / "recollect.db", trust=True).model.n_params() > 0


def test_status_tells_pace_and_rest_only_while_somebody_writes(tmp_path: Path) -> None:
    store = Store(tmp_path / "new.db", create=True)
    specs = [tiny(seed=seed) for seed in range(4)]
    store.add(specs)
    store.link("mine", "laptop", {spec.id: "label" for spec in specs})
    store.start(specs[0].id, {})
    store.finish(specs[0].id, {"outcome": "solved", "curves": {"step": []}}, 1.0)
    store.start(specs[1].id, {})
    (row,) = store.db.execute("SELECT updated FROM runs WHERE id = ?", (specs[0].id,)).fetchone()
    (busy,) = standings(store, Writer("process 1", row - 10))
    assert (busy.statuses["done"], busy.statuses["running"], busy.statuses["pending"]) == (1, 1, 2)
    assert busy.seconds_left == pytest.approx(30, rel=0.2)
    (idle,) = standings(store, None)
    assert (idle.statuses["running"], idle.statuses["pending"], idle.seconds_left) == (0, 3, None)


def test_the_board_follows_every_run(capsys: Capsys) -> None:
    board = Board({run: f"name of {run}" for run in "abc"}, done=1, retries=1)
    result = {"outcome": "solved", "test_accuracy": 1.0}
    events = [
        Started("a", 0, 9, {}),
        Started("b", 3, 9, {}),
        Point("a", 4, {"train_loss": 0.5}),
        Progressed("b", 5, {"train_accuracy": 0.25}),
    ]
    assert [board.hear(event) for event in events] == ["", "", "", ""]
    assert [(line.step, str(line.latest)) for line in board.under_way.values()] == [
        (4, "train loss 0.500 (step 4)"),
        (5, "train accuracy 0.250"),
    ]
    assert board.hear(Lost("a", "gone")).endswith("was lost: gone; trying again")
    assert board.hear(Lost("a", "gone")).endswith("was lost: gone")
    assert "raised: ValueError: no" in board.hear(Failed("b", "Traceback\n  x\nValueError: no\n"))
    assert board.sentence().startswith("3/4 runs, 0 under way, 1 lost, 1 failed, about ")
    from rich.console import Console

    console = Console(width=100)
    watcher = Watcher(board, console, live=False)
    watcher.spoken -= 31
    watcher.hear(Started("c", 0, 9, {}))
    assert "3/4 runs, 1 under way" in capsys.readouterr().err
    board.hear(Done("c", result, 2.0))
    console.print(board)
    shown = capsys.readouterr().out
    assert "4/4 runs" in shown
    assert "name of c: solved, test accuracy 100.0% (2 s)" in shown


def test_the_time_left_counts_runs_under_way_by_their_steps() -> None:
    board = Board(dict.fromkeys("abc", "a run"))
    board.began -= 60
    board.hear(Started("a", 0, 100, {}))
    board.hear(Progressed("a", 9, {}))
    assert board.seconds_left() is None
    board.hear(Progressed("a", 50, {}))
    assert board.seconds_left() == pytest.approx(300, rel=0.01)  # half a run a minute, two and a half are left
    board.hear(Done("a", {"outcome": "solved", "test_accuracy": 1.0}, 1.0))
    board.hear(Started("b", 80, 100, {}))
    assert board.seconds_left() == pytest.approx(72, rel=0.01)  # what an earlier process did is no pace of this one
    board.hear(Progressed("b", 90, {}))
    assert board.seconds_left() == pytest.approx(60 / 1.1 * 1.1, rel=0.01)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(5, "5 s"), (590, "9.8 min"), (600, "10 min"), (4182, "70 min"), (9000, "2.5 h"), (864000, "10 days")],
)
def test_durations_have_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


BAD = {
    "no such file": (["run", "nowhere.yaml"], "nowhere.yaml: no such file"),
    "an unknown executor": (["run", "sweep.yaml", "--executor", "slurm"], "slurm"),
    "no workers": (["run", "sweep.yaml", "--workers", "0"], "--workers: must be at least 1"),
    "an address without Ray": (["run", "sweep.yaml", "--address", "x:1"], "--address is for --executor ray"),
    "nothing chosen": (["run", "sweep.yaml", "--only", "nothing"], "none of the 8 runs contains 'nothing'"),
    "a negative limit": (["run", "sweep.yaml", "--limit", "-1"], "--limit"),
    "no cluster": (["run", "sweep.yaml", "--executor", "ray", "--address", "127.0.0.1:1"], "--executor ray: "),
    "no format": (["export"], "name one format"),
    "two formats": (["export", "--csv", "--json"], "csv and json"),
    "Parquet to nowhere": (["export", "--parquet"], "needs a file"),
    "no store to look at": (["status"], "no store at"),
    "nothing to merge": (["store", "merge", "a.db"], "at least two stores"),
    "a store that is not there": (["store", "merge", "a.db", "b.db"], "no store at b.db"),
    "nothing to delete": (["store", "delete"], "at least one run"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_nothing_is_written(capsys: Capsys, tmp_path: Path, case: str) -> None:
    words, expected = BAD[case]
    code, out, err = call(capsys, *words)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.startswith("recollect: ")
    assert err.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"sweep.yaml"}


def test_a_studys_figure_is_printed_as_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "demo", "--scale", "smoke", "--executor", "inline", "--store", str(tmp_path / "r.db")]
    printed = ["--width", "3.25", "--height", "2", "--no-title", "--no-note"]
    assert call(capsys, *words, "--out", str(tmp_path), *printed)[0] == 0
    svg = (tmp_path / "demo.svg").read_text()
    assert 'width="234pt" height="144pt"' in svg
    code, _, err = call(capsys, *words, "--panel", "sky")
    assert (code, "has no 'sky'" in err) == (2, True)


def test_a_sweep_file_has_no_figure_to_print(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("task: mqar\nmixer: attention\nlr: 1e-3\n")
    code, _, err = call(capsys, "run", str(file), "--width", "3")
    assert (code, "has no figure to print" in err) == (2, True)
