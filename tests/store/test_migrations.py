"""Stores outlive versions: older ones are migrated, kept ones still say what they are."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from recollect.errors import BadInput
from recollect.store import Contents, Store, merge
from recollect.store.lock import lock
from recollect.store.migrations import SCHEMA, STEPS
from tests.support.places import ROOT
from tests.support.small import tiny

KEPT = sorted(
    [*(ROOT / "examples").glob("*.db"), *(ROOT / "results").rglob("*.db"), *(ROOT / "tests/store").glob("*.db")]
)
OLDER = {schema: ROOT / "tests" / "store" / f"schema{schema}.db" for schema in range(1, SCHEMA)}


@pytest.fixture(params=OLDER)
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A store of an older schema: two finished runs in a study, and one that failed."""
    return Path(shutil.copy(OLDER[request.param], tmp_path / "recollect.db"))


def described(file: Path) -> tuple[int, list[tuple[str, ...]]]:
    """The schema's number, and all tables and indices of a file."""
    db = sqlite3.connect(file)
    (schema,) = db.execute("PRAGMA user_version").fetchone()
    found = db.execute("SELECT type, name, tbl_name FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    columns = [(name, *row[1:3]) for _, name, _ in found for row in db.execute(f"PRAGMA table_info({name})")]
    db.close()
    return schema, [*found, *columns]


def test_every_step_has_a_store_that_needs_it() -> None:
    assert len(STEPS) == len(OLDER)
    assert [described(file)[0] for file in OLDER.values()] == list(OLDER)


def test_reading_an_older_store_writes_nothing_and_misses_nothing(older: Path) -> None:
    before = {file.name: file.read_bytes() for file in older.parent.iterdir()}
    store = Store(older)
    assert [record.status for record in store.records()].count("done") == 2
    assert store.record(tiny().id) is not None
    assert len(Contents(store).labelled("demo", "smoke")) == 2
    store.close()
    assert {file.name: file.read_bytes() for file in older.parent.iterdir()} == before


def test_writing_an_older_store_migrates_it_under_the_lock(older: Path, tmp_path: Path) -> None:
    before = Store(older).records(curves=True)
    store = Store(older, create=True)
    with lock(older), pytest.raises(BadInput, match="is being written by"), store.writing():
        pass
    assert described(older)[0] < SCHEMA
    with store.writing():
        store.add([tiny(seed=99)])
    store.close()
    Store(tmp_path / "new.db", create=True).close()
    assert described(older) == described(tmp_path / "new.db")
    again = Store(older)
    assert again.records(curves=True)[: len(before)] == before
    assert again.record(tiny(seed=99).id) is not None


def test_a_run_that_is_worse_than_guessing_is_no_longer_called_partial() -> None:
    (old,) = (record for record in Store(OLDER[2]).records() if record.outcome == "below chance")
    assert old.result is not None
    assert old.result["outcome"] == "below chance"
    assert old.result["validation_accuracy"] < min(old.result["floors"].values()) - 0.05
    kept = Store(ROOT / "results" / "laptop-split" / "recollect.db").records()
    for record in (record for record in kept if record.outcome in ("partial", "below chance") and record.result):
        if "test_character_accuracy" not in record.result:
            below = record.result["validation_accuracy"] < min(record.result["floors"].values()) - 0.05
            assert (record.outcome == "below chance") == below


def test_an_older_store_can_be_merged_and_its_runs_deleted(older: Path, tmp_path: Path) -> None:
    into = Store(tmp_path / "into.db", create=True)
    assert merge(into, older).new == 3
    assert into.records(curves=True) == Store(older).records(curves=True)
    assert len(Contents(into).labelled("demo", "smoke")) == 2
    store = Store(older)
    with store.writing():
        store.delete([tiny().id])
    assert Store(older).record(tiny().id) is None


def test_a_step_that_fails_leaves_the_store_as_it_was(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("DROP TABLE runs")
        raise RuntimeError("no")

    schema, before = described(older)[0], older.read_bytes()
    monkeypatch.setattr("recollect.store.migrations.STEPS", (*STEPS[: schema - 1], broken))
    with pytest.raises(RuntimeError, match="no"):
        Store(older)
    assert older.read_bytes() == before


@pytest.mark.parametrize("file", KEPT, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_run_of_a_kept_store_gives_its_own_id(file: Path) -> None:
    records = Store(file).records()
    assert records
    for record in records:
        assert (record.spec.id, record.spec.cell) == (record.id, record.cell)
