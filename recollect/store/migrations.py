"""Steps from one schema of the store to the next: applied in order, never changed once a store has taken them.

A store of the older schema is kept in the tests for every step.
"""

import sqlite3
from collections.abc import Callable

Step = Callable[[sqlite3.Connection], object]


def find_studies_by_run(db: sqlite3.Connection) -> None:
    """To schema 2: counting the runs of every study no longer reads all links for every run."""
    db.execute("CREATE INDEX study_runs_by_run ON study_runs (run)")


STEPS: tuple[Step, ...] = (find_studies_by_run,)
SCHEMA = 1 + len(STEPS)
"""The schema of this version; a new store begins with it."""


def migrate(db: sqlite3.Connection) -> None:
    """Bring an older schema up to this version's: all steps or none, and none where somebody else just did it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        (schema,) = db.execute("PRAGMA user_version").fetchone()
        for step in STEPS[schema - 1 :]:
            step(db)
        db.execute(f"PRAGMA user_version = {SCHEMA}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
