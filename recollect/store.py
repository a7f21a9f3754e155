"""The store remembers runs: one SQLite file, beside it a folder with the runs' own files.

Only the coordinator writes, holding the lock; everybody may read at any time. Writing a point or a result again is
harmless, so events may be replayed.
"""

import fcntl
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.errors import BadInput
from recollect.spec import RunSpec, canonical

DEFAULT = Path("recollect.db")
APPLICATION = 0x7265636C  # "recl", in the file's header: tells our files from other programs'
SCHEMA = 1
STATUSES = ("pending", "running", "done", "failed", "lost")

_TABLES = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, cell TEXT NOT NULL, spec TEXT NOT NULL, status TEXT NOT NULL, outcome TEXT,
    attempt INTEGER NOT NULL DEFAULT 0, result TEXT, error TEXT, provenance TEXT, seconds REAL,
    created REAL NOT NULL, updated REAL NOT NULL
);
CREATE INDEX runs_by_cell ON runs (cell);
CREATE TABLE points (
    run TEXT NOT NULL, step INTEGER NOT NULL, name TEXT NOT NULL, value REAL, PRIMARY KEY (run, step, name)
) WITHOUT ROWID;
CREATE TABLE arrays (
    run TEXT NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL,
    blob BLOB NOT NULL, PRIMARY KEY (run, name, step)
);
CREATE TABLE study_runs (
    study TEXT NOT NULL, scale TEXT NOT NULL, run TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (study, scale, run)
);
"""


@dataclass(frozen=True)
class Record:
    """What the store knows of one run."""

    id: str
    cell: str
    spec: RunSpec
    status: str
    outcome: str | None
    attempt: int
    result: dict[str, Any] | None
    error: str | None
    provenance: dict[str, Any]
    seconds: float | None

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        head = {"id": self.id, "cell": self.cell, "spec": self.spec.model_dump(mode="json"), "status": self.status}
        tail = {"seconds": self.seconds, "error": self.error, "provenance": self.provenance}
        return head | (self.result or {"outcome": self.outcome}) | tail


class Store:
    """One SQLite file; reading needs no lock."""

    def __init__(self, path: Path = DEFAULT, *, create: bool = False) -> None:
        self.path = Path(path)
        check_path(self.path, create)
        self.files = self.path.with_name(self.path.stem + ".files")
        self.db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.notice = "" if create is False else self._set_up()
        self._check()

    def _set_up(self) -> str:
        """Create the tables where the file is new; say so where the file system allows no write-ahead log."""
        with self.transaction():
            if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _TABLES.strip().split(";\n"):
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA application_id = {APPLICATION}")
                self.db.execute(f"PRAGMA user_version = {SCHEMA}")
        (mode,) = self.db.execute("PRAGMA journal_mode = WAL").fetchone()
        self.db.execute("PRAGMA synchronous = NORMAL")
        if mode == "wal":
            return ""
        self.db.execute("PRAGMA journal_mode = DELETE")
        return f"{self.path}: no write-ahead log on this file system; using the slower rollback journal"

    def _check(self) -> None:
        (application,), (schema,) = (
            self.db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
        if application != APPLICATION:
            raise BadInput(f"store: {self.path} is a database of another program; name another file with --store")
        if schema != SCHEMA:
            raise BadInput(
                f"store: {self.path} has schema {schema}, this version reads {SCHEMA}; use a newer recollect"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def folder(self, run: str) -> Path:
        """Where a run keeps its checkpoint and weights."""
        return self.files / run

    # Writing: the coordinator only.

    def add(self, specs: Iterable[RunSpec]) -> None:
        """Note runs that are to be done; known ones stay as they are."""
        now = time.time()
        rows = [(spec.id, spec.cell, spec.to_json(), "pending", now, now) for spec in specs]
        with self.transaction():
            self.db.executemany(
                "INSERT OR IGNORE INTO runs (id, cell, spec, status, created, updated) VALUES (?, ?, ?, ?, ?, ?)", rows
            )

    def link(self, study: str, scale: str, labels: dict[str, str]) -> None:
        """Say that runs belong to a study, under a label each."""
        rows = [(study, scale, run, label) for run, label in labels.items()]
        with self.transaction():
            self.db.executemany("INSERT OR REPLACE INTO study_runs VALUES (?, ?, ?, ?)", rows)

    def start(self, run: str, provenance: dict[str, Any]) -> None:
        """A run began (again)."""
        self._update(run, status="running", provenance=canonical(provenance), error=None)
        self.db.execute("UPDATE runs SET attempt = attempt + 1 WHERE id = ?", (run,))

    def point(self, run: str, step: int, values: dict[str, float | None]) -> None:
        """Values of one step."""
        with self.transaction():
            self.db.executemany(
                "INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)", [(run, step, k, v) for k, v in values.items()]
            )

    def finish(self, run: str, result: dict[str, Any], seconds: float) -> None:
        """A run came to its end; its curves live in `points`."""
        kept = {key: value for key, value in result.items() if key != "curves"}
        self._update(run, status="done", outcome=result["outcome"], result=canonical(kept), seconds=seconds, error=None)

    def fail(self, run: str, error: str, status: str = "failed") -> None:
        """A run raised, or was lost."""
        assert status in STATUSES
        self._update(run, status=status, error=error)

    def delete(self, runs: Iterable[str]) -> None:
        """Forget runs and their files."""
        for run in runs:
            with self.transaction():
                self.db.execute("DELETE FROM runs WHERE id = ?", (run,))
                for table in ("points", "arrays", "study_runs"):
                    self.db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
            shutil.rmtree(self.folder(run), ignore_errors=True)

    def _update(self, run: str, **values: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(f"UPDATE runs SET {names}, updated = ? WHERE id = ?", (*values.values(), time.time(), run))

    # Reading.

    def record(self, run: str) -> Record | None:
        """One run by its whole id."""
        row = self.db.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        return None if row is None else self._record(row, curves=True)

    def records(self, *, study: str | None = None, cell: str | None = None, curves: bool = False) -> list[Record]:
        """All runs, those of a study, or those of a cell, oldest first."""
        query, given = "SELECT runs.* FROM runs", list[str]()
        if study is not None:
            query, given = query + " JOIN study_runs ON study_runs.run = runs.id WHERE study = ?", [study]
        elif cell is not None:
            query, given = query + " WHERE cell = ?", [cell]
        rows = self.db.execute(query + " ORDER BY created, runs.id", given).fetchall()
        return [self._record(row, curves) for row in rows]

    def labels(self, study: str, scale: str) -> dict[str, str]:
        """Run -> label of a study's runs, in the study's order."""
        query = "SELECT run, label FROM study_runs WHERE study = ? AND scale = ? ORDER BY rowid"
        rows = self.db.execute(query, (study, scale))
        return {row["run"]: row["label"] for row in rows}

    def find(self, prefix: str) -> Record:
        """One run by the beginning of its id."""
        rows = self.db.execute("SELECT id FROM runs WHERE substr(id, 1, ?) = ?", (len(prefix), prefix)).fetchall()
        if len(rows) != 1:
            what = "no run" if not rows else f"{len(rows)} runs"
            raise BadInput(f"run: {what} in {self.path} begin with '{prefix}'; `recollect list runs` shows them")
        found = self.record(rows[0]["id"])
        assert found is not None
        return found

    def curves(self, run: str) -> dict[str, list[float | None]]:
        """step -> values, as lists of equal length."""
        rows = self.db.execute("SELECT step, name, value FROM points WHERE run = ? ORDER BY step", (run,)).fetchall()
        steps = sorted({row["step"] for row in rows})
        place = {step: i for i, step in enumerate(steps)}
        out: dict[str, list[float | None]] = {"step": list(steps)}
        for row in rows:
            out.setdefault(row["name"], [None] * len(steps))[place[row["step"]]] = row["value"]
        return out

    def _record(self, row: sqlite3.Row, curves: bool) -> Record:
        result = json.loads(row["result"]) if row["result"] else None
        if curves and result is not None:
            result["curves"] = self.curves(row["id"])
        return Record(
            id=row["id"],
            cell=row["cell"],
            spec=RunSpec.model_validate_json(row["spec"]),
            status=row["status"],
            outcome=row["outcome"],
            attempt=row["attempt"],
            result=result,
            error=row["error"],
            provenance=json.loads(row["provenance"] or "{}"),
            seconds=row["seconds"],
        )


def check_path(path: Path, create: bool) -> None:
    """Refuse what cannot be a store, before anything is written."""
    if path.is_dir():
        raise BadInput(f"store: {path} is a directory; name a file, such as {path / DEFAULT}")
    if path.exists():
        with path.open("rb") as handle:
            head = handle.read(72)
        if head and (not head.startswith(b"SQLite format 3\0") or int.from_bytes(head[68:72], "big") != APPLICATION):
            raise BadInput(f"store: {path} is a file of another program; name another file with --store")
    elif not create:
        raise BadInput(f"store: no store at {path}; `recollect train` makes one, --store names another")
    elif path.parent.exists() and not path.parent.is_dir():
        raise BadInput(f"store: {path.parent} is not a directory")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Be the store's only writer; a second one is refused with the first one's name."""
    file = path.with_name(path.name + ".lock")
    with file.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            raise BadInput(f"store: {path} is being written by {handle.read().strip() or 'another process'}") from None
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()} on {os.uname().nodename}")
        handle.flush()
        yield
