"""What a search found in one cell: its window, the runs behind it, and what else it could have cost."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window.cell import CellSearch, readings
from recollect.window.compare import SIZES, even_grid_runs, wider
from recollect.window.measure import Estimate, Window, measure


@dataclass(frozen=True)
class Found:
    """The window of a cell; `even` is what an even grid of equal precision costs (`even_grid_runs`)."""

    label: str
    spec: RunSpec
    records: tuple[Record, ...]  # finished, within the range of the search
    window: Window
    even: int | None

    @property
    def outcomes(self) -> dict[str, float]:
        """Outcome -> its share of all runs, the most frequent first."""
        counts = Counter(record.outcome or "" for record in self.records)
        return {outcome: count / len(self.records) for outcome, count in counts.most_common()}

    def cost(self) -> str:
        """One sentence: the runs of the search against those of an even grid."""
        runs = f"{self.window.n_runs} run{'s' * (self.window.n_runs != 1)}"
        if self.even is not None:
            return f"An even grid would have needed about {self.even} runs to know the edges as well as these {runs}."
        if self.window.width is None or math.isinf(self.window.width.high):
            return f"These {runs} do not bound the window, so no even grid of equal precision can be named."
        return f"An even grid of {SIZES[-1]} runs would not know the edges as well as these {runs}."

    def to_json(self) -> dict[str, Any]:
        """Plain data; edges, holes and range as learning rates, an end that the runs do not bound as None."""
        w = self.window
        return {
            "label": self.label,
            "cell": self.spec.cell,
            "spec": self.spec.model_dump(mode="json"),
            "steps": w.steps,
            "threshold": w.threshold,
            "low": 10**w.low,
            "high": 10**w.high,
            "lower": _plain(w.lower, partial(pow, 10)),
            "upper": _plain(w.upper, partial(pow, 10)),
            "width": _plain(w.width, float),
            "best_lr": w.best_lr,
            "sensitivity": w.sensitivity,
            "flags": list(w.flags),
            "holes": [[10**low, 10**high] for low, high in w.holes],
            "rates": [asdict(rate) for rate in w.rates],
            "outcomes": self.outcomes,
            "runs": [record.id for record in self.records],
            "n_runs": w.n_runs,
            "even_grid_runs": self.even,
            "text": str(w),
        }


def find(label: str, cell: CellSearch, records: Sequence[Record]) -> Found | None:
    """What the finished runs of a cell tell; None where there is none in the range."""
    search, spec = cell.search, cell.spec
    own = [r for r in records if r.cell == spec.cell and r.is_done and search.holds(r.spec.train.lr)]
    if not own:
        return None
    seen = readings(own, spec.cell)
    window = measure(seen, steps=spec.train.steps, threshold=search.threshold, low=search.low, high=search.high)
    return Found(label, spec, tuple(own), window, even_grid_runs(window))


def wider_matrix(found: Sequence[Found]) -> list[list[float]]:
    """The probability that the window of each row is wider than that of each column."""
    return [[wider(one.window, other.window) for other in found] for one in found]


def _plain(found: Estimate | None, told: Callable[[float], float]) -> dict[str, float | None] | None:
    if found is None:
        return None
    return {key: told(x) if math.isfinite(x) else None for key, x in asdict(found).items()}
