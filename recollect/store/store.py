"""The store remembers runs: one SQLite file, beside it a folder with the runs' own files.

Only the coordinator writes, holding the lock; everybody may read at any time. Writing a point or a result again is
harmless, so events may be replayed.
"""

import json
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from recollect.errors import BadInput, plain, sentence
from recollect.spec import RunSpec, canonical
from recollect.store.lock import lock
from recollect.store.migrations import SCHEMA, migrate, transaction
from recollect.store.records import (
    ALL,
    DONE,
    ID,
    PARTIAL,
    STATUSES,
    Curves,
    Line,
    Looks,
    Record,
    Specs,
    Tally,
    Tells,
    as_curves,
    as_line,
    check_result,
    check_row,
    read_object,
)

DEFAULT = Path("recollect.db")
APPLICATION = 0x7265636C  # "recl", in the file's header: tells our files from other programs'

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
    study TEXT NOT NULL, scale TEXT NOT NULL, run TEXT NOT NULL, label TEXT NOT NULL, tells TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (study, scale, run)
);
CREATE INDEX study_runs_by_run ON study_runs (run);
"""

SOUND = "typeof(step) = 'integer' AND typeof(value) IN ('real', 'integer', 'null')"
"""A point that can be read; `store check` finds the others."""

NAMED = "typeof(study) = 'text' AND typeof(scale) = 'text' AND typeof(label) = 'text'"
"""The same of a link to a study."""

_RUNS = f"""
SELECT *, (
    SELECT value FROM points WHERE run = id AND name = 'validation_loss' AND {SOUND} ORDER BY step LIMIT 1
) AS first_loss FROM runs
"""


class NoStore(BadInput):
    """There is none yet, or only the beginning of one whose maker was killed."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"store: no store at {path}; `recollect train` makes one, --store names another")


class Store:
    """One SQLite file; reading needs no lock."""

    def __init__(self, path: Path = DEFAULT, *, create: bool = False) -> None:
        self.path = Path(path)
        check_path(self.path, create)
        is_db = self.path.suffix == ".db"
        self.files = self.path.with_suffix(".files") if is_db else self.path.with_name(f"{self.path.name}-files")
        self.is_writer = self.is_copy = False
        self.unreadable: dict[str, str] = {}
        try:
            self.db = self._connect(self.path) if create else self._connect_reading()
            self.notice = self._set_up() if create else ""
            self._check()
        except sqlite3.Error as error:
            raise BadInput(f"store: {self.path} cannot be {'written' if create else 'read'} ({error})") from None

    def _connect(self, place: Path | str) -> sqlite3.Connection:
        db = sqlite3.connect(place, timeout=30, isolation_level=None, uri=str(place).startswith("file:"))
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = NORMAL")
        return db

    def _connect_reading(self) -> sqlite3.Connection:
        """Who may not write beside the file reads it as it lies there: nobody can be writing it from here."""
        try:
            db = self._connect(self.path)
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db = self._connect(f"{self.path.resolve().as_uri()}?immutable=1")
        return db

    def _set_up(self) -> str:
        """Create the tables where the file is new; say so where the file system allows no write-ahead log."""
        with self.transaction():
            if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _TABLES.strip().split(";\n"):
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA application_id = {APPLICATION}")
                self.db.execute(f"PRAGMA user_version = {SCHEMA}")
        (mode,) = self.db.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode == "wal":
            return ""
        self.db.execute("PRAGMA journal_mode = DELETE")
        return f"{self.path}: no write-ahead log on this file system; using the slower rollback journal"

    def _check(self) -> None:
        """Refuse what is no store of ours, or one of a later version; read an older one as if it were migrated."""
        if not self.db.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise NoStore(self.path)
        if self._pragma("application_id") != APPLICATION:
            raise BadInput(f"store: {self.path} is a database of another program; name another file with --store")
        if (schema := self._pragma("user_version")) > SCHEMA:
            raise BadInput(
                f"store: {self.path} has schema {schema}, this version reads up to {SCHEMA}; use a newer recollect"
            )
        if schema < SCHEMA:
            file, self.db, self.is_copy = self.db, self._connect(":memory:"), True
            file.backup(self.db)
            file.close()
            migrate(self.db)

    def _pragma(self, name: str) -> int:
        (value,) = self.db.execute(f"PRAGMA {name}").fetchone()
        return int(value)

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing."""
        return transaction(self.db)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer, under the store's lock; may be nested."""
        if self.is_writer:
            yield
            return
        with lock(self.path):
            self._migrate()
            self.is_writer = True
            try:
                yield
            finally:
                self.is_writer = False

    def _migrate(self) -> None:
        """Bring the file itself up to this version's schema, where a reader is content with a copy that is."""
        if self.is_copy:
            self.db.close()
            self.db, self.is_copy = self._connect(self.path), False
            migrate(self.db)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def folder(self, run: str) -> Path:
        """Where a run keeps its checkpoint and weights; an id that a spec cannot have names no folder."""
        if not ID.fullmatch(run):
            raise BadInput(f"store: {self.path} has a run called '{run[:40]}', which no spec gives; see `store check`")
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

    def link(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells] | None = None) -> None:
        """Say that runs belong to a study, under a label each, and what they tell of there, if not of all."""
        with self.transaction():
            self._link(study, scale, labels, tells or {})

    def _link(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells]) -> None:
        rows = [(study, scale, run, label, tells.get(run, ALL)) for run, label in labels.items()]
        query = "INSERT OR REPLACE INTO study_runs (study, scale, run, label, tells) VALUES (?, ?, ?, ?, ?)"
        self.db.executemany(query, rows)

    def enrol(self, study: str, scale: str, labels: dict[str, str], tells: Mapping[str, Tells] | None = None) -> None:
        """Say that exactly these runs make up a study; what no study wants any more and never began is forgotten."""
        with self.transaction():
            self.db.execute("DELETE FROM study_runs WHERE study = ? AND scale = ?", (study, scale))
            self._link(study, scale, labels, tells or {})
            self.db.execute(
                "DELETE FROM runs WHERE status = 'pending' AND attempt = 0 AND id NOT IN (SELECT run FROM study_runs)"
            )

    def release(self) -> None:
        """Nothing is running: whoever wrote before is gone, or has just stopped."""
        self.db.execute("UPDATE runs SET status = 'pending', updated = ? WHERE status = 'running'", (time.time(),))

    def start(self, run: str, provenance: dict[str, Any]) -> None:
        """A run began (again)."""
        self.db.execute(
            "UPDATE runs SET status = 'running', provenance = ?, error = NULL, attempt = attempt + 1, updated = ? "
            "WHERE id = ?",
            (canonical(provenance), time.time(), run),
        )

    def point(self, run: str, step: int, values: dict[str, float | None]) -> None:
        """Values of one step."""
        with self.transaction():
            self._insert_points((run, step, name, value) for name, value in values.items())

    def look(self, run: str, step: int, values: Mapping[str, Any]) -> None:
        """What was seen inside the model at a step: numbers, or nested lists of them."""
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        rows = [(run, name, step, "float64", json.dumps(a.shape), a.tobytes()) for name, a in arrays.items()]
        with self.transaction():
            self.db.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?, ?, ?)", rows)

    def finish(self, run: str, result: dict[str, Any], seconds: float) -> None:
        """A run came to its end; its curves replace the points so far, which may be of an attempt elsewhere."""
        kept = {key: value for key, value in result.items() if key != "curves"}
        curves = result["curves"]
        with self.transaction():
            self.db.execute("DELETE FROM points WHERE run = ?", (run,))
            for name in curves.keys() - {"step"}:
                values = zip(curves["step"], curves[name], strict=True)
                self._insert_points((run, step, name, value) for step, value in values)
            self._update(
                run, status=DONE, outcome=result["outcome"], result=canonical(kept), seconds=seconds, error=None
            )

    def _insert_points(self, rows: Iterable[tuple[str, int, str, float | None]]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)", rows)

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
            if ID.fullmatch(run):
                shutil.rmtree(self.folder(run), ignore_errors=True)

    def _update(self, run: str, **values: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(f"UPDATE runs SET {names}, updated = ? WHERE id = ?", (*values.values(), time.time(), run))

    # Reading.

    def record(self, run: str) -> Record | None:
        """One run by its whole id."""
        row = self.db.execute(f"{_RUNS} WHERE id = ?", (run,)).fetchone()
        if row is None:
            return None
        found = self._record(row, Specs(), self.curves(run))
        if found is None:
            raise BadInput(f"run {run}: cannot be read from {self.path}: {self.unreadable[run]}; see `store check`")
        return found

    def records(
        self,
        *,
        study: str | None = None,
        cell: str | None = None,
        status: str | None = None,
        curves: bool = False,
        known: Mapping[str, Record] = MappingProxyType({}),
    ) -> list[Record]:
        """All runs, or those of a study, a cell, a status; oldest first. Those that are `known` are not read again."""
        wanted = {"cell = ?": cell, "status = ?": status, "id IN (SELECT run FROM study_runs WHERE study = ?)": study}
        given = {clause: value for clause, value in wanted.items() if value is not None}
        where = " AND ".join(given) or "TRUE"
        values = list(given.values())
        rows = self.db.execute(f"{_RUNS} WHERE {where} ORDER BY created, id", values)
        found = self._curves(f"run IN (SELECT id FROM runs WHERE {where})", values) if curves else {}
        specs = Specs()
        read = [
            known.get(row["id"]) or self._record(row, specs, found.get(row["id"], {"step": []}) if curves else None)
            for row in rows
        ]
        return [record for record in read if record is not None]

    def lines(self, cell: str | None = None, *, study: str | None = None) -> list[Line]:
        """All runs, or those of a cell or a study, oldest first; what cannot be read is noted in `unreadable`.

        Of the runs of one cell, which differ in learning rate and seed only, one spec is checked whole.
        """
        query = (
            "SELECT id, cell, spec, status, outcome, result FROM runs WHERE ? IN (cell, '') "
            "AND (? IS NULL OR id IN (SELECT run FROM study_runs WHERE study = ?)) ORDER BY created, id"
        )
        sound, found = set[str](), list[Line]()
        for row in self.db.execute(query, (cell or "", study, study)).fetchall():
            try:
                if row["cell"] not in sound:
                    RunSpec.model_validate_json(row["spec"])
                    sound.add(row["cell"])
                found.append(as_line(row))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                self._note(row, error)
        return found

    def done(self) -> set[str]:
        """The runs that came to their end."""
        return {run for run, status in self.statuses().items() if status == DONE}

    def statuses(self) -> dict[str, str]:
        """Run -> status."""
        return {row["id"]: row["status"] for row in self.db.execute("SELECT id, status FROM runs")}

    def seconds_by_cell(self) -> dict[str, float]:
        """Cell -> mean seconds of its finished runs."""
        query = "SELECT cell, avg(seconds) AS mean FROM runs WHERE status = ? GROUP BY cell"
        return {row["cell"]: row["mean"] for row in self.db.execute(query, (DONE,))}

    def tallies(self) -> list[Tally]:
        """How many runs there are of each study, scale, status and outcome; runs of no study count as study ''."""
        query = (
            "SELECT coalesce(study, '') AS study, coalesce(scale, '') AS scale, status, "
            "coalesce(outcome, '') AS outcome, count(*) AS runs "
            "FROM runs LEFT JOIN study_runs ON run = id GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
        )
        return [Tally(**row) for row in self.db.execute(query)]

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run, by name."""
        query = f"SELECT DISTINCT study, scale FROM study_runs WHERE {NAMED} ORDER BY study, scale"
        return [(row["study"], row["scale"]) for row in self.db.execute(query)]

    def finished_since(self, moment: float) -> dict[tuple[str, str], int]:
        """(Study, scale) -> runs that ended well after a moment."""
        query = (
            "SELECT coalesce(study, '') AS study, coalesce(scale, '') AS scale, count(*) AS runs "
            "FROM runs LEFT JOIN study_runs ON run = id WHERE status = ? AND updated >= ? GROUP BY 1, 2"
        )
        return {(row["study"], row["scale"]): row["runs"] for row in self.db.execute(query, (DONE, moment))}

    def labels(self, study: str, scale: str) -> dict[str, str]:
        """Run -> label of a study's runs, in the study's order."""
        query = "SELECT run, label FROM study_runs WHERE study = ? AND scale = ? ORDER BY rowid"
        rows = self.db.execute(query, (study, scale))
        return {row["run"]: plain(row["label"]) for row in rows}

    def tells(self, study: str, scale: str) -> dict[str, Tells]:
        """Run -> what it tells of, for those of a study's runs that do not tell of all."""
        query = "SELECT run, tells FROM study_runs WHERE study = ? AND scale = ?"
        found = {row["run"]: row["tells"] for row in self.db.execute(query, (study, scale))}
        return {run: tells for run, tells in found.items() if tells in PARTIAL}

    def find(self, prefix: str) -> Record:
        """One run by the beginning of its id."""
        found = self.record(self.find_id(prefix))
        assert found is not None
        return found

    def find_id(self, prefix: str) -> str:
        """The whole id of one run, which need not be readable."""
        rows = self.db.execute("SELECT id FROM runs WHERE substr(id, 1, ?) = ?", (len(prefix), prefix)).fetchall()
        if len(rows) != 1:
            what = "no run" if not rows else f"{len(rows)} runs"
            raise BadInput(f"run: {what} in {self.path} begin with '{prefix}'; `recollect list runs` shows them")
        return str(rows[0]["id"])

    def find_cell(self, prefix: str) -> list[Record]:
        """The runs of one cell by the beginning of its id; empty where no single cell begins so."""
        query = "SELECT DISTINCT cell FROM runs WHERE substr(cell, 1, ?) = ?"
        cells = self.db.execute(query, (len(prefix), prefix)).fetchall()
        return self.records(cell=cells[0]["cell"]) if len(cells) == 1 else []

    def curves(self, run: str) -> Curves:
        """step -> values, as lists of equal length."""
        return self._curves("run = ?", [run]).get(run, {"step": []})

    def looks(self, run: str) -> Looks:
        """What was seen inside a run's model, by name and step."""
        found: dict[str, dict[int, NDArray[np.float64]]] = {}
        query = "SELECT name, step, shape, blob FROM arrays WHERE run = ? AND dtype = 'float64' ORDER BY rowid"
        for row in self.db.execute(query, (run,)):
            values = np.frombuffer(row["blob"], np.float64).reshape(json.loads(row["shape"]))
            found.setdefault(row["name"], {})[row["step"]] = values
        return {name: dict(sorted(steps.items())) for name, steps in found.items()}

    def looked(self, name: str = "gradient length") -> dict[str, set[int]]:
        """Run -> the steps at which somebody looked inside and saw this."""
        found: dict[str, set[int]] = {}
        for row in self.db.execute("SELECT run, step FROM arrays WHERE name = ?", (name,)):
            found.setdefault(row["run"], set()).add(row["step"])
        return found

    def _curves(self, where: str, values: list[str]) -> dict[str, Curves]:
        """Run -> curves, of many runs in one query."""
        points = self.db.cursor()
        points.row_factory = None
        points.execute(
            f"SELECT run, step, name, value FROM points WHERE {where} AND {SOUND} ORDER BY run, step", values
        )
        return {run: as_curves(list(found)) for run, found in groupby(points, key=itemgetter(0))}

    def _record(self, row: sqlite3.Row, specs: Specs, curves: Curves | None) -> Record | None:
        """A row as a record; one that cannot be read is noted in `unreadable` and blocks no other."""
        try:
            return self._read(row, specs, curves)
        except (ValueError, TypeError) as error:
            self._note(row, error)
        return None

    def _note(self, row: sqlite3.Row, error: Exception) -> None:
        why = sentence(error, "spec") if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
        self.unreadable[str(row["id"])] = str(why)

    def _read(self, row: sqlite3.Row, specs: Specs, curves: Curves | None) -> Record:
        check_row(row)
        result = read_object(row["result"]) if row["result"] else None
        if row["status"] == DONE:
            check_result(result or {})
        if curves is not None and result is not None:
            result["curves"] = curves
        return Record(
            id=row["id"],
            cell=row["cell"],
            spec=specs.read(row["cell"], row["spec"]),
            status=row["status"],
            outcome=row["outcome"] and plain(row["outcome"]),
            attempt=row["attempt"],
            result=result,
            error=row["error"] and plain(row["error"]),
            provenance=read_object(row["provenance"]),
            seconds=row["seconds"],
            first_loss=row["first_loss"],
        )


def check_path(path: Path, create: bool) -> None:
    """Refuse what cannot be a store, before anything is written."""
    if path.is_dir():
        raise BadInput(f"store: {path} is a directory; name a file, such as {path / DEFAULT}")
    if path.exists() and (create or path.stat().st_size):
        with path.open("rb") as handle:
            head = handle.read(72)
        if head and (not head.startswith(b"SQLite format 3\0") or int.from_bytes(head[68:72], "big") != APPLICATION):
            raise BadInput(f"store: {path} is a file of another program; name another file with --store")
    elif not create:
        raise NoStore(path)
    elif path.parent.exists() and not path.parent.is_dir():
        raise BadInput(f"store: {path.parent} is not a directory")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
