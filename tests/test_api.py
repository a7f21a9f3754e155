"""recollect from Python: many runs, a window, listeners."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
import tomllib

import recollect
from recollect.errors import BadInput
from recollect.spec.events import Done, Event, Point, Started
from recollect.store import Store
from recollect.sweep.logs import LOGS, open_logs
from tests.cli.test_cli import TRAIN, call
from tests.support.places import ROOT
from tests.support.small import tiny

BLOCK = 32768
SPECS = [tiny(seed=seed) for seed in (3, 1, 2)]


def test_many_runs_come_back_as_a_table_in_their_order_and_are_not_done_twice(tmp_path: Path) -> None:
    first, second = list[Event](), list[Event]()
    found = recollect.run_many(SPECS, tmp_path / "a.db", workers=2, listen=[first.append, second.append])
    assert isinstance(found, pd.DataFrame)
    assert list(found["seed"]) == [3, 1, 2]
    assert set(found["status"]) == {"done"}
    assert list(found["test_accuracy"]) == [recollect.run(spec).result["test_accuracy"] for spec in SPECS]  # type: ignore[index]
    assert first == second
    assert {event.run for event in first if isinstance(event, Done)} == {spec.id for spec in SPECS}
    again = recollect.run_many(SPECS[:1], tmp_path / "a.db", listen=lambda event: pytest.fail(str(event)))
    assert list(again["id"]) == [SPECS[0].id]


def test_every_listener_is_told_the_spec_before_anything_else() -> None:
    heard: list[Event] = []
    recollect.run(SPECS[0], listen=heard.append)
    assert isinstance(heard[0], Started)
    assert heard[0].spec == SPECS[0]
    assert isinstance(heard[-1], Done)


def test_a_window_is_found_from_python(tmp_path: Path) -> None:
    spec = tiny(train__stop_accuracy=None)
    options = {"low": 1e-3, "high": 1e-1, "max_runs": 4, "executor": "inline"}
    found = recollect.find_window(spec, tmp_path / "a.db", **options)  # type: ignore[arg-type]
    assert found.window.n_runs == len(found.records) == 4
    assert set(recollect.results(found.records)["cell"]) == {spec.cell}
    assert len(recollect.results(tmp_path / "a.db")) == 4
    same = recollect.find_window(spec, tmp_path / "a.db", **options)  # type: ignore[arg-type]
    assert same.window == found.window


@pytest.mark.parametrize("workers", [0, -1])
def test_nobody_can_train_without_workers(workers: int) -> None:
    told = rf"^workers: must be at least 1, or None for one per core \(got {workers}\)$"
    for train in (recollect.run_many, lambda specs, **rest: recollect.find_window(specs[0], **rest)):
        with pytest.raises(BadInput, match=told):
            train(SPECS, workers=workers)
    with pytest.raises(BadInput, match=told):
        recollect.compare_mixers("gla", scale="smoke", workers=workers)


def test_one_process_does_not_pretend_to_be_four(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^workers: executor 'inline' trains 1 at once \(got 4\)$"):
        recollect.run_many(SPECS, tmp_path / "a.db", executor="inline", workers=4)
    assert not (tmp_path / "a.db").exists()


def test_a_task_that_only_the_store_brings_is_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    told, code = Path("executed"), (ROOT / "examples" / "my_task.py").read_text()
    Path("mine.py").write_text(f"{code}\nopen({str(told.resolve())!r}, 'w').close()\n")
    spec = tiny(task="mine.py:Sum")
    recollect.run(spec, "a.db")
    for file in ("mine.py", told):
        Path(file).unlink()
    with pytest.raises(BadInput, match=r"its task mine.py:Sum is code of the copy .*; load it with trust=True"):
        recollect.load(spec.id, "a.db")
    assert "--trust" in call(capsys, "probe", spec.id, "--store", "a.db")[2]
    assert not told.exists()
    assert recollect.load(spec.id, "a.db", trust=True).model.n_params() > 0


def test_code_in_the_folder_of_another_run_is_the_stores_too(tmp_path: Path) -> None:
    other = Store(tmp_path / "a.db", create=True).folder(SPECS[0].id) / "mine.py"
    other.parent.mkdir(parents=True)
    other.write_text((ROOT / "examples" / "my_mixer.py").read_text())
    spec = tiny(f"{other}:GatedAverage")
    recollect.run(spec, tmp_path / "a.db")
    with pytest.raises(BadInput, match="in the store's folder"):
        recollect.load(spec.id, tmp_path / "a.db")


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(BadInput, match="did you mean 'local'"):
        recollect.run_many(SPECS, executor="lokal")


def test_a_log_that_is_not_installed_is_one_sentence_and_nothing_is_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = call(capsys, *TRAIN, "--log", "wandb")
    assert code == 2
    assert "pip install 'recollect[wandb]'" in err
    assert not list(tmp_path.iterdir())


def test_tensorboard_has_every_point_of_every_run(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed: pip install 'recollect[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (log,) = open_logs(["tensorboard"], tmp_path / "a.db")
    recollect.run_many(SPECS[:2], tmp_path / "a.db", executor="inline", listen=log)
    assert not log.open
    for spec in SPECS[:2]:
        read = EventAccumulator(str(tmp_path / "a.logs" / "tensorboard" / spec.id))
        read.Reload()
        curves = recollect.curves(tmp_path / "a.db").query(f"id == '{spec.id}'")
        scalars = read.Scalars("validation_loss")
        assert [scalar.step for scalar in scalars] == list(curves["step"])
        assert [scalar.value for scalar in scalars] == pytest.approx(list(curves["validation_loss"]), rel=1e-6)
        assert "test_accuracy" in read.Tags()["scalars"]


def test_wandb_has_every_point_of_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="wandb is not installed: pip install 'recollect[wandb]'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    (log,) = open_logs(["wandb"], tmp_path / "a.db")
    events: list[Event] = []
    recollect.run_many(SPECS[:2], tmp_path / "a.db", executor="inline", listen=[log, events.append])
    for spec in SPECS[:2]:
        (file,) = (tmp_path / "a.logs" / "wandb").glob(f"offline-run-*-{spec.id}/run-{spec.id}.wandb")
        points = [event for event in events if isinstance(event, Point) and event.run == spec.id]
        found = [row for row in history(file) if "validation_loss" in row]
        assert [row["_step"] for row in found] == [point.step for point in points]
        assert [row["validation_loss"] for row in found] == [point.values["validation_loss"] for point in points]


def history(file: Path) -> list[dict[str, float]]:
    """The rows that a file of Weights & Biases holds: a header of 7 bytes, then records in blocks, as in LevelDB."""
    from wandb.proto import wandb_internal_pb2

    data, at, whole, rows = file.read_bytes(), 7, b"", []
    while at + 7 <= len(data):
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        whole += data[at + 7 : at + 7 + size]
        at += 7 + size
        if BLOCK - at % BLOCK < 7:
            at += BLOCK - at % BLOCK
        if kind in (1, 4):  # whole, or the last part of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(whole)
            whole = b""
            if items := record.history.item:
                rows.append({item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in items})
    return rows


def test_every_log_is_an_extra_of_the_same_name() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(LOGS) <= set(extras)


def test_the_page_on_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL))
    quick = {'"train.steps": 2000': '"train.steps": 2, "task.validation_rows": 8', "max_runs=24": "max_runs=6"}
    for told, used in quick.items():
        assert told in text
        text = text.replace(told, used)
    text = text.replace('"my.py:Mixer", ', '"gla", against=["attention"], scale="smoke", max_runs=2, ')
    exec(text, {})
    assert "mamba at 0.001: " not in capsys.readouterr().out  # all were done before anybody listened
    assert len(recollect.results()) == 8 + 2 + 2 * 9
