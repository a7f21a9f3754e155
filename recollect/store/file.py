"""The file of a store: its tables, who may open it, who may write it.

Only the coordinator writes, holding the lock; everybody may read at any time.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from recollect.errors import BadInput
from recollect.store.lock import itself, lock
from recollect.store.migrations import SCHEMA, migrate, transaction
from recollect.store.records import ID

MAGIC = b"SQLite format 3\0"
DEFAULT = Path("recollect.db")
APPLICATION = 0x7265636C  # "recl", in the file's header: tells our files from other programs'

TABLES = """
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


class NoStore(BadInput):
    """There is none yet, or only the beginning of one whose maker was killed."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"store: no store at {path}; `recollect train` makes one, --store names another")


class File:
    """An open file; what it holds is for those who inherit."""

    def __init__(self, path: Path = DEFAULT, *, create: bool = False) -> None:
        self.path = Path(path)
        check_path(self.path, create)
        place = itself(self.path)
        self.files = place.with_suffix(".files") if place.suffix == ".db" else place.with_name(f"{place.name}-files")
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
                for statement in TABLES.strip().split(";\n"):
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


def is_database(path: Path) -> bool:
    """Whether there is a file of SQLite's, as stores are."""
    if not path.is_file():
        return False
    with path.open("rb") as handle:
        return handle.read(len(MAGIC)) == MAGIC


def check_path(path: Path, create: bool) -> None:
    """Refuse what cannot be a store, before anything is written."""
    if path.is_dir():
        raise BadInput(f"store: {path} is a directory; name a file, such as {path / DEFAULT}")
    if path.exists() and (create or path.stat().st_size):
        with path.open("rb") as handle:
            head = handle.read(72)
        if head and (not head.startswith(MAGIC) or int.from_bytes(head[68:72], "big") != APPLICATION):
            raise BadInput(f"store: {path} is a file of another program; name another file with --store")
    elif not create:
        raise NoStore(path)
    elif path.parent.exists() and not path.parent.is_dir():
        raise BadInput(f"store: {path.parent} is not a directory")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
