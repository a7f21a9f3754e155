"""The store remembers runs: one SQLite file, beside it a folder with the runs' own files.

Writing a result again is harmless, so events may be replayed.
"""

import shutil
import sqlite3
import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from recollect.errors import BadInput, sentence
from recollect.spec import RunSpec, canonical
from recollect.store.links import Links
from recollect.store.points import SOUND, Points
from recollect.store.records import DONE, ID, STATUSES, Curves, Line, Record, Specs, as_line, as_record

_RUNS = f"""
SELECT *, (
    SELECT value FROM points WHERE run = id AND name = 'validation_loss' AND {SOUND} ORDER BY step LIMIT 1
) AS first_loss FROM runs
"""


class Store(Links, Points):
    """One SQLite file; reading needs no lock."""

    # Writing: the coordinator only.

    def add(self, specs: Iterable[RunSpec]) -> None:
        """Note runs that are to be done; known ones stay as they are."""
        now = time.time()
        rows = [(spec.id, spec.cell, spec.to_json(), "pending", now, now) for spec in specs]
        with self.transaction():
            self.db.executemany(
                "INSERT OR IGNORE INTO runs (id, cell, spec, status, created, updated) VALUES (?, ?, ?, ?, ?, ?)", rows
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
        """Cell -> seconds of a run that uses its whole budget, by its finished runs."""
        steps, budget = "sum(json_extract(result, '$.steps'))", "json_extract(spec, '$.train.steps')"
        query = f"SELECT cell, sum(seconds) / {steps} * {budget} AS whole FROM runs WHERE status = ? GROUP BY cell"
        return {row["cell"]: row["whole"] for row in self.db.execute(query, (DONE,)) if row["whole"]}

    def find(self, prefix: str) -> Record:
        """One run by the beginning of its id."""
        found = self.record(self.find_id(prefix))
        assert found is not None
        return found

    def find_id(self, prefix: str) -> str:
        """The whole id of one run, which need not be readable."""
        if not prefix:
            raise BadInput("run: an empty id names none; `recollect list runs` shows them")
        rows = self.db.execute("SELECT id FROM runs WHERE substr(id, 1, ?) = ?", (len(prefix), prefix)).fetchall()
        if len(rows) != 1:
            what = f"{len(rows)} runs in {self.path} begin" if rows else f"no run in {self.path} begins"
            raise BadInput(f"run: {what} with '{prefix}'; `recollect list runs` shows them")
        return str(rows[0]["id"])

    def find_cell(self, prefix: str) -> list[Record]:
        """The runs of one cell by the beginning of its id; empty where no single cell begins so."""
        query = "SELECT DISTINCT cell FROM runs WHERE substr(cell, 1, ?) = ?"
        cells = self.db.execute(query, (len(prefix), prefix)).fetchall()
        return self.records(cell=cells[0]["cell"]) if len(cells) == 1 else []

    def _record(self, row: sqlite3.Row, specs: Specs, curves: Curves | None) -> Record | None:
        """A row as a record; one that cannot be read is noted in `unreadable` and blocks no other."""
        try:
            return as_record(row, specs, curves)
        except (ValueError, TypeError) as error:
            self._note(row, error)
        return None

    def _note(self, row: sqlite3.Row, error: Exception) -> None:
        why = sentence(error, "spec") if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
        self.unreadable[str(row["id"])] = str(why)
