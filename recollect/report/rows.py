"""Cells and runs as the HTML page lists them, with thinned curves."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.report.cells import OWN, CellRow
from recollect.report.command import command
from recollect.report.tables import window_edges, window_text
from recollect.spec.compose import flatten
from recollect.store import Record

POINTS = 30
"""Points that a curve keeps on the page, the first and the last among them."""

Plain = dict[str, Any]


def cell_of(row: CellRow, words: str | None) -> Plain:
    """A cell with its window, what was chosen for it, its fields and the command that trains it."""
    fields = flatten(row.spec.model_dump(mode="json"))
    plain: Plain = {
        "id": row.cell,
        "label": row.label,
        "mixer": row.mixer,
        "task": row.spec.task.short(),
        "length": row.spec.task.length,
        "d": row.spec.model.d_model,
        "layers": row.spec.model.n_layers,
        "params": row.n_params,
        "state": row.state_size,
        "floors": row.floors,
        "runs": row.n_runs,
        "done": len(row.done),
        "window": window_text(row.window),
        "decades": row.decades,
        "edges": window_edges(row.window),
        "spec": {key: value for key, value in fields.items() if key not in OWN},
        "command": words,
    }
    if (choice := row.choice) is not None:
        low, high, n = min(choice.accuracies), max(choice.accuracies), len(choice.seeds)
        plain |= {"lr": choice.lr, "mean": choice.mean, "sd": choice.sd, "low": low, "high": high, "n": n}
    return plain


def run_of(record: Record, cell: int, words: str | None, is_drawn: bool) -> Plain:
    """A run of the cell at this place, with its curves if it is drawn, and a command if its cell has none."""
    result = record.result or {}
    plain: Plain = {
        "id": record.id,
        "cell": cell,
        "lr": record.spec.train.lr,
        "seed": record.spec.seed,
        "status": record.status,
        "outcome": record.outcome,
        "test": result.get("test_accuracy"),
        "validation": result.get("validation_accuracy"),
        "steps": result.get("steps"),
        "seconds": None if record.seconds is None else round(record.seconds, 1),
        "curves": thinned(result.get("curves", {})) if is_drawn else {},
    }
    plain |= {"tells": record.tells} if record.tells else {}
    plain |= {"error": record.error} if record.error else {}
    return plain | ({"command": command(record.spec)} if words is None else {})


def thinned(curves: Mapping[str, Sequence[float | None]]) -> dict[str, list[float | None]]:
    """At most `POINTS` points of every curve, evenly chosen, to four decimals."""
    total = len(curves.get("step", ()))
    kept = range(total) if total <= POINTS else sorted({round(i * (total - 1) / (POINTS - 1)) for i in range(POINTS)})
    return {name: [_short(values[i]) for i in kept] for name, values in curves.items()}


def _short(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 4)
