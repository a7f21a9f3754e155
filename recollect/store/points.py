"""What runs measure on their way: points of their curves, and what was seen inside their models.

Writing a point again is harmless, so events may be replayed.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.store.file import File
from recollect.store.records import Curves, Looks, as_curves

SOUND = "typeof(step) = 'integer' AND (value IS NULL OR typeof(value) IN ('real', 'integer') AND abs(value) < 9e999)"
"""A point that can be read; `store check` finds the others."""


class Points(File):
    """Of every run."""

    def point(self, run: str, step: int, values: dict[str, float | None]) -> None:
        """Values of one step."""
        with self.transaction():
            self._insert_points((run, step, name, value) for name, value in values.items())

    def _insert_points(self, rows: Iterable[tuple[str, int, str, float | None]]) -> None:
        self.db.executemany("INSERT OR REPLACE INTO points VALUES (?, ?, ?, ?)", rows)

    def look(self, run: str, step: int, values: Mapping[str, Any]) -> None:
        """What was seen inside the model at a step: numbers, or nested lists of them."""
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        rows = [(run, name, step, "float64", json.dumps(a.shape), a.tobytes()) for name, a in arrays.items()]
        with self.transaction():
            self.db.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?, ?, ?)", rows)

    def curves(self, run: str) -> Curves:
        """step -> values, as lists of equal length."""
        return self._curves("run = ?", [run]).get(run, {"step": []})

    def _curves(self, where: str, values: list[str]) -> dict[str, Curves]:
        """Run -> curves, of many runs in one query."""
        points = self.db.cursor()
        points.row_factory = None
        points.execute(
            f"SELECT run, step, name, value FROM points WHERE {where} AND {SOUND} ORDER BY run, step", values
        )
        return {run: as_curves(list(found)) for run, found in groupby(points, key=itemgetter(0))}

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
