"""The store: one file, one writer, nothing lost."""

import sqlite3
from collections import Counter
from pathlib import Path

import pytest

from recollect import load, run
from recollect.errors import BadInput
from recollect.store import Contents, NoStore, Store
from recollect.store.file import APPLICATION
from recollect.store.lock import lock
from recollect.store.records import Specs
from tests.support.invented import fill, records_of, result_of
from tests.support.small import tiny


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "recollect.db", create=True)


def test_a_run_is_kept_whole_and_not_done_twice(tmp_path: Path) -> None:
    file = tmp_path / "recollect.db"
    record = run(tiny(), store=file)
    assert record.status == "done"
    assert record.result is not None
    again = run(tiny(), store=file)
    assert again == record
    assert again.attempt == 1
    kept = Store(file).record(record.id)
    assert kept == record
    assert record.result["curves"]["step"] == [0, 4, 8, 12]
    assert record.spec == tiny()


def test_a_loaded_model_answers_as_the_record_says(tmp_path: Path) -> None:
    from recollect.tasks import make_task
    from recollect.training.trainer import evaluate

    record = run(tiny(), store=tmp_path / "recollect.db")
    loaded = load(record.id[:6], store=tmp_path / "recollect.db")
    assert record.result is not None
    _, accuracy, _ = evaluate(
        loaded.model, make_task(record.spec.task).evaluation("test", record.spec.seed), record.spec
    )
    assert accuracy == record.result["test_accuracy"]


def test_without_a_store_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(tiny()).status == "done"
    assert not list(tmp_path.iterdir())


def test_replayed_points_are_harmless(store: Store) -> None:
    spec = tiny()
    store.add([spec, spec])
    for _ in range(2):
        store.point(spec.id, 3, {"train_loss": 0.5, "validation_loss": None})
    assert store.curves(spec.id) == {"step": [3], "train_loss": [0.5], "validation_loss": [None]}
    assert len(store.records()) == 1


def test_a_failed_run_keeps_its_error_and_a_lost_one_its_reason(store: Store) -> None:
    spec = tiny()
    store.add([spec])
    store.fail(spec.id, "ValueError: no", "failed")
    record = store.record(spec.id)
    assert record is not None
    assert (record.status, record.error) == ("failed", "ValueError: no")
    store.delete([spec.id])
    assert store.records() == []


def test_a_finished_run_keeps_the_points_of_its_result_alone(store: Store) -> None:
    spec = tiny()
    store.add([spec])
    store.point(spec.id, 99, {"train_loss": 0.5})
    store.finish(spec.id, {"outcome": "solved", "curves": {"step": [0, 4], "train_loss": [None, 0.1]}}, 1.0)
    assert store.curves(spec.id) == {"step": [0, 4], "train_loss": [None, 0.1]}


def test_a_writer_may_write_in_parts(store: Store) -> None:
    with store.writing(), store.writing():
        store.add([tiny()])
    with lock(store.path), pytest.raises(BadInput, match="is being written by process"), store.writing():
        pass


def test_a_second_writer_is_refused_by_name(store: Store) -> None:
    with lock(store.path), pytest.raises(BadInput, match="is being written by process"), lock(store.path):
        pass
    with lock(store.path):
        pass


def test_what_is_no_store_is_refused_and_untouched(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    for path, expected in ((text, "another program"), (other, "another program"), (tmp_path, "is a directory")):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(BadInput, match=expected):
            Store(path, create=True)
        assert before is None or path.read_bytes() == before
    with pytest.raises(BadInput, match="no store at"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_store_whose_maker_was_killed_is_no_store_yet_and_can_be_made(tmp_path: Path) -> None:
    for name in ("no bytes.db", "no tables.db"):
        file = tmp_path / name
        file.touch()
        if name == "no tables.db":
            with sqlite3.connect(file) as db:
                db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.close()
        with pytest.raises(NoStore, match="no store at"):
            Store(file)
        Store(file, create=True).close()
        assert Store(file).statuses() == {}


def test_a_store_of_a_later_version_is_refused(store: Store) -> None:
    store.db.execute("PRAGMA user_version = 99")
    store.close()
    with pytest.raises(BadInput, match="schema 99"):
        Store(store.path)


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    store.add([tiny(seed=seed) for seed in range(40)])
    with pytest.raises(BadInput, match="an empty id names none"):
        store.find("")
    twice = next(char for char, n in Counter(run[0] for run in store.statuses()).items() if n > 1)
    with pytest.raises(BadInput, match=r"runs in .* begin with"):
        store.find(twice)
    with pytest.raises(BadInput, match="no run"):
        store.find("zzz")
    first = store.records()[0]
    assert store.find(first.id[:10]) == store.record(first.id)


def test_the_runs_of_a_cell_share_what_they_have_in_common(store: Store) -> None:
    specs = [tiny(seed=seed) for seed in (1, 2)]
    store.add(specs)
    first, second = store.records()
    assert {first.spec, second.spec} == set(specs)
    assert first.spec.model is second.spec.model
    with pytest.raises(ValueError, match="rate"):
        Specs().read("", first.spec.to_json().replace('"lr":', '"rate":'))


def test_what_is_said_to_be_of_one_cell_is_compared_before_it_is_shared(store: Store) -> None:
    one, other = tiny(seed=1), tiny("mamba", seed=2)
    specs = Specs()
    assert [specs.read("same", spec.to_json()) for spec in (one, other)] == [one, other]


def test_curves_are_there_when_they_are_looked_at(tmp_path: Path) -> None:
    path = fill(tmp_path / "few.db", records_of()[:2])
    store = Store(path)
    eager, lazy = store.records(curves=True)[0].result, Contents(store).records()[0].result
    assert eager is not None
    assert lazy is not None
    assert dict(lazy["curves"]) == eager["curves"]
    assert "nothing" not in lazy["curves"]
    assert store.records()[0].first_loss == eager["curves"]["validation_loss"][0]


def test_the_time_of_a_cell_is_that_of_its_whole_budget(tmp_path: Path) -> None:
    """A run that stopped on success after a sixth of its steps tells of one that does not."""
    store = Store(tmp_path / "r.db", create=True)
    early, late = tiny(seed=1), tiny(seed=2)
    store.add([early, late])
    for spec, steps, seconds in ((early, 2, 1.0), (late, 12, 6.0)):
        store.finish(spec.id, result_of(spec, 0.5, "partial") | {"steps": steps}, seconds)
    assert store.seconds_by_cell() == {early.cell: 6.0}
