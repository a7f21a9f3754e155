"""What is wrong inside a store, and how it is mended: runs that cannot be read, or are not called as their spec."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from pydantic import ValidationError

from recollect.spec import RunSpec
from recollect.store.links import NAMED
from recollect.store.points import SOUND
from recollect.store.store import Store

LATER = ("extra_forbidden", "union_tag_invalid", "literal_error", "less_than_equal")
"""What is wrong with the spec of a later version."""


@dataclass(frozen=True)
class Problem:
    """Where and what; `mend` puts it right, and is None where nothing can."""

    where: str
    what: str
    mend: Callable[[], object] | None = None


def problems(store: Store) -> Iterator[Problem]:
    """All that is found; a store without any is sound."""
    try:
        lines = [str(line) for (line,) in store.db.execute("PRAGMA integrity_check").fetchall() if line != "ok"]
        yield from (Problem(str(store.path), f"damaged: {' '.join(line.split())}") for line in lines)
        yield from _runs(store)
        yield from _strays(store)
    except sqlite3.DatabaseError as error:
        yield Problem(str(store.path), f"damaged: {error}")


def _runs(store: Store) -> Iterator[Problem]:
    for record in store.records():
        spec, run = record.spec, record.id
        if run != spec.id:
            yield Problem(f"run '{run[:40]}'", f"its spec is that of {spec.id}", partial(store.delete, [run]))
        elif record.cell != spec.cell:
            query = "UPDATE runs SET cell = ? WHERE id = ?"
            yield Problem(f"run {run}", f"its cell is {spec.cell}", partial(store.db.execute, query, (spec.cell, run)))
    for run, why in store.unreadable.items():
        if _is_foreign(store, run):
            told = f"cannot be read: {why}; perhaps of another version, so that it is kept (`recollect store delete`)"
            yield Problem(f"run '{run[:40]}'", told)
        else:
            yield Problem(f"run '{run[:40]}'", f"cannot be read: {why}", partial(store.delete, [run]))


def _is_foreign(store: Store, run: str) -> bool:
    """Whether its spec has fields, names or numerics that this version does not know: a later one may have it."""
    (spec,) = store.db.execute("SELECT spec FROM runs WHERE id = ?", (run,)).fetchone() or ("",)
    try:
        RunSpec.model_validate_json(spec)
    except ValidationError as error:
        return any(found["type"] in LATER for found in error.errors())
    return False


def _strays(store: Store) -> Iterator[Problem]:
    unknown = "run NOT IN (SELECT id FROM runs)"
    kinds = [(table, unknown, "of unknown runs") for table in ("points", "arrays", "study_runs")]
    kinds += [
        ("points", f"NOT ({SOUND})", "that are no numbers"),
        ("study_runs", f"NOT ({NAMED})", "that name no study"),
    ]
    for table, where, what in kinds:
        stray = f"FROM {table} WHERE {where}"
        (count,) = store.db.execute(f"SELECT count(*) {stray}").fetchone()
        if count:
            yield Problem(table, f"{count} rows {what}", partial(store.db.execute, f"DELETE {stray}"))
