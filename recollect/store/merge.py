"""Merging stores: the runs of one go into another, each run once."""

import shutil
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import BadInput
from recollect.store.records import DONE
from recollect.store.store import Store

TABLES = {"runs": "id", "points": "run", "arrays": "run"}
"""Tables that hold a run, and the column with its id."""


@dataclass(frozen=True)
class Merged:
    """What came over: `new` runs, and `different` ones that both had finished with other results (the first's stay)."""

    new: int
    different: int


def merge(into: Store, other: Path, cells: Collection[str] | None = None, *, light: bool = False) -> Merged:
    """Copy what `into` lacks, unknown runs and finished ones that it has not finished, with points, links and files.

    Of a run that both have finished with the same result, looks inside that only the other has come over too. Of
    certain cells only the finished runs, without links to studies. A light copy, to be kept or passed on, has only
    finished runs and no files.
    """
    source = Store(other)
    if into.path.resolve() == source.path.resolve():
        raise BadInput(f"store merge: {other} is the same store")
    with into.writing():
        wanted, (same, different) = _wanted(into, source, cells, light), _both(into, source)
        with into.transaction():
            _copy_rows(into, source, wanted, linked=cells is None)
            _copy_looks(into, source, same)
            for run in wanted:  # after its row was read and before it counts: a finished run of a store has its weights
                if not light and source.folder(run).is_dir():
                    shutil.copytree(source.folder(run), into.folder(run), dirs_exist_ok=True)
        into.release()
    source.close()
    return Merged(len(wanted), different)


def _wanted(into: Store, source: Store, cells: Collection[str] | None, light: bool) -> list[str]:
    """Runs whose spec gives their id: what a stranger's store calls otherwise is not taken over."""
    ours, finished = into.statuses(), source.done() - into.done()
    sound = [record for record in source.records() if record.id == record.spec.id]
    if light or cells is not None:
        return [r.id for r in sound if r.id in finished and (cells is None or r.cell in cells)]
    return [record.id for record in sound if record.id not in ours or record.id in finished]


def _both(into: Store, source: Store) -> tuple[list[str], int]:
    """Of the runs that both have finished: those with the same result, and how many have another."""
    query = "SELECT id, result FROM runs WHERE status = ?"
    ours, theirs = ({row["id"]: row["result"] for row in store.db.execute(query, (DONE,))} for store in (into, source))
    common = ours.keys() & theirs.keys()
    same = [run for run in common if ours[run] == theirs[run]]
    return same, len(common) - len(same)


def _copy_rows(into: Store, source: Store, wanted: list[str], *, linked: bool) -> None:
    """By the columns' names: an older store reads as if it had this version's schema, but not in its file."""
    for table, key in TABLES.items():
        for run in wanted:
            into.db.execute(f"DELETE FROM {table} WHERE {key} = ?", (run,))
            _insert(into, table, source.db.execute(f"SELECT * FROM {table} WHERE {key} = ?", (run,)))
    if linked:
        _insert(into, "study_runs", source.db.execute("SELECT * FROM study_runs ORDER BY rowid"))
        into.db.execute("DELETE FROM study_runs WHERE run NOT IN (SELECT id FROM runs)")


def _copy_looks(into: Store, source: Store, same: list[str]) -> None:
    """What was seen inside runs that are alike, where `into` has seen nothing."""
    ours, theirs = ({run for (run,) in store.db.execute("SELECT DISTINCT run FROM arrays")} for store in (into, source))
    for run in (theirs - ours) & set(same):
        _insert(into, "arrays", source.db.execute("SELECT * FROM arrays WHERE run = ?", (run,)))


def _insert(into: Store, table: str, rows: sqlite3.Cursor) -> None:
    names = [name for name, *_ in rows.description]
    marks = ", ".join("?" * len(names))
    into.db.executemany(f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})", map(tuple, rows))
