"""Merging stores: the runs of one go into another, each run once."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import BadInput
from recollect.store.store import Store

_RUNS = "id, cell, spec, status, outcome, attempt, result, error, provenance, seconds, created, updated"
_PARTS = {"points": "run, step, name, value", "arrays": "run, name, step, dtype, shape, blob"}


@dataclass(frozen=True)
class Merged:
    """What came over: `new` runs, and `different` ones that both had finished with other results (the first's stay)."""

    new: int
    different: int


def merge(into: Store, other: Path) -> Merged:
    """Copy what `into` lacks, unknown runs and finished ones that it has not finished, with points, links and files."""
    source = Store(other)
    if into.path.resolve() == source.path.resolve():
        raise BadInput(f"store merge: {other} is the same store")
    with into.writing():
        wanted, different = _wanted(into, source), _different(into, source)
        for run in wanted:  # files first: a finished run of a store has its weights
            if source.folder(run).is_dir():
                shutil.copytree(source.folder(run), into.folder(run), dirs_exist_ok=True)
        _copy_rows(into, other, wanted)
        into.release()
    source.close()
    return Merged(len(wanted), different)


def _wanted(into: Store, source: Store) -> list[str]:
    ours = into.statuses()
    return [run for run, status in source.statuses().items() if run not in ours or (status == "done" != ours[run])]


def _different(into: Store, source: Store) -> int:
    query = "SELECT id, result FROM runs WHERE status = 'done'"
    ours, theirs = ({row["id"]: row["result"] for row in store.db.execute(query)} for store in (into, source))
    return sum(theirs[run] != result for run, result in ours.items() if run in theirs)


def _copy_rows(into: Store, other: Path, wanted: list[str]) -> None:
    into.db.execute("ATTACH DATABASE ? AS other", (str(other),))
    try:
        with into.transaction():
            into.db.execute("CREATE TEMP TABLE wanted (run TEXT PRIMARY KEY)")
            into.db.executemany("INSERT INTO wanted VALUES (?)", [(run,) for run in wanted])
            chosen = "IN (SELECT run FROM wanted)"
            into.db.execute(f"INSERT OR REPLACE INTO runs ({_RUNS}) SELECT {_RUNS} FROM other.runs WHERE id {chosen}")
            for table, columns in _PARTS.items():
                into.db.execute(f"DELETE FROM main.{table} WHERE run {chosen}")
                into.db.execute(
                    f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM other.{table} WHERE run {chosen}"
                )
            into.db.execute("INSERT OR IGNORE INTO main.study_runs SELECT * FROM other.study_runs ORDER BY rowid")
            into.db.execute("DROP TABLE wanted")
    finally:
        into.db.execute("DETACH DATABASE other")
