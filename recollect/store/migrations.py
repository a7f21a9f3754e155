"""Steps from one schema of the store to the next: applied in order, never changed once a store has taken them.

A store of the older schema is kept in the tests for every step.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from recollect.spec.base import canonical
from recollect.tasks.outcome import BELOW, is_below

Step = Callable[[sqlite3.Connection], object]


def find_studies_by_run(db: sqlite3.Connection) -> None:
    """To schema 2: counting the runs of every study no longer reads all links for every run."""
    db.execute("CREATE INDEX study_runs_by_run ON study_runs (run)")


def tell_below_chance(db: sqlite3.Connection) -> None:
    """To schema 3: a partial run that is worse than every guesser is called `below chance`, by its stored numbers.

    Floors are stored for whole answers; of strings, whose floors for single characters are close to 0, none is below.
    """
    found = db.execute("SELECT id, result FROM runs WHERE outcome = 'partial'").fetchall()
    for run, text in found:
        result = json.loads(text)
        if "test_character_accuracy" not in result and is_below(result["validation_accuracy"], result["floors"]):
            result["outcome"] = BELOW
            db.execute("UPDATE runs SET outcome = ?, result = ? WHERE id = ?", (BELOW, canonical(result), run))


def say_what_runs_tell(db: sqlite3.Connection) -> None:
    """To schema 4: a link says what its run tells of, as a search's runs tell of the window alone; so far, all."""
    db.execute("ALTER TABLE study_runs ADD COLUMN tells TEXT NOT NULL DEFAULT ''")


STEPS: tuple[Step, ...] = (find_studies_by_run, tell_below_chance, say_what_runs_tell)
SCHEMA = 1 + len(STEPS)
"""The schema of this version; a new store begins with it."""


def migrate(db: sqlite3.Connection) -> None:
    """Bring an older schema up to this version's: all steps or none, and none where somebody else just did it."""
    with transaction(db):
        (schema,) = db.execute("PRAGMA user_version").fetchone()
        for step in STEPS[schema - 1 :]:
            step(db)
        db.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
