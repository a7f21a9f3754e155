"""From a posterior over curves to the edges and the width of the window, each a distribution with quantiles."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recollect.window.curve import GUESS, TOPS, Floats, crossings
from recollect.window.posterior import SLOPES, Mesh, Posterior

FINE = 5
"""Bins to a grid step; odd, so that a grid value can be spread evenly around itself."""

TAIL = (1 - 0.9) / 2
"""The share on either side of an interval."""

LEVELS = [top for top, _ in TOPS]
"""The tops, in their order."""

FAINT = 1e-9
"""Curves less probable than this are left out."""


@dataclass(frozen=True)
class Spread:
    """A distribution on a line: the probability `below` each `at`."""

    at: Floats
    below: Floats

    def quantile(self, share: float) -> float:
        """The place with so much of the probability below it."""
        return float(np.interp(share, self.below, self.at))

    def interval(self) -> tuple[float, float]:
        """The middle 90 %."""
        return self.quantile(TAIL), self.quantile(1 - TAIL)

    @property
    def median(self) -> float:
        """As likely above as below."""
        return self.quantile(0.5)


@dataclass(frozen=True)
class Edges:
    """Where p = 1/2, given that it is somewhere; `none` is the probability that it is nowhere."""

    lower: Spread
    upper: Spread
    width: Spread
    none: float


def edges(posterior: Posterior) -> Edges:
    """The distributions of the two edges (log10 lr) and the width (decades)."""
    lower, upper, mass = _crossed(posterior)
    step, places = posterior.grid.step, posterior.grid.places
    start, bins = float(places[0]) - step, (len(places) + 2) * FINE
    return Edges(
        _spread(lower, mass, start, step, bins, 1),
        _spread(upper, mass, start, step, bins, 1),
        _spread(upper - lower, mass, 0.0, step, bins, 2),
        max(0.0, 1 - float(mass.sum())),
    )


def centre(posterior: Posterior) -> Spread:
    """The distribution of the middle between the two edges (log10 lr), given that there are any.

    An edge outside of the range counts as the range's end: how far out it lies, nobody knows.
    """
    lower, upper, mass = _in_range(posterior)
    step, places = posterior.grid.step, posterior.grid.places
    return _spread((lower + upper) / 2, mass, float(places[0]) - step, step, (len(places) + 2) * FINE, 1)


def within(posterior: Posterior) -> Spread:
    """The distribution of what lies of the width between the ends of the range (decades), given that there is any."""
    lower, upper, mass = _in_range(posterior)
    return _spread(upper - lower, mass, 0.0, posterior.grid.step, (len(posterior.grid.places) + 2) * FINE, 2)


def _in_range(posterior: Posterior) -> tuple[Floats, Floats, Floats]:
    """Both edges, those beyond the range at its end, and the probability of every curve that has them."""
    *ends, mass = _crossed(posterior)
    lower, upper = (np.clip(end, posterior.grid.low, posterior.grid.high) for end in ends)
    return lower, upper, mass


def _crossed(posterior: Posterior) -> tuple[Floats, Floats, Floats]:
    """Lower edge, upper edge and probability of every curve that has them."""
    left, right = posterior.left, posterior.right
    slopes, n = np.asarray(SLOPES, dtype=np.float32), len(SLOPES)
    first, step = posterior.grid.places[0], posterior.grid.step
    top = np.abs(np.subtract.outer(left.height + GUESS, LEVELS)).argmin(1) * n * n * len(posterior.grid.places)
    a, b = (np.rint((side.place - first) / step).astype(int) for side in (left, right))
    u, v = (np.searchsorted(slopes, side.slope) for side in (left, right))
    kept = np.flatnonzero(posterior.mass > FAINT)
    row, column = np.divmod(kept, len(right.place))
    at = (top + n * u - n * n * a)[row] + (n * n * b + v)[column]
    below, above = (offset.take(at) for offset in _offsets(posterior.grid))
    real = np.isfinite(below)
    lower, upper = left.place[row] + below, right.place[column] - above
    return lower[real], upper[real], posterior.mass.take(kept)[real]


@lru_cache(maxsize=8)
def _offsets(grid: Mesh) -> tuple[Floats, Floats]:
    """`crossings` for every top, every gap of the grid and every pair of slopes (top, gap, u, v)."""
    gaps = grid.step * np.arange(len(grid.places))
    below, above = crossings(*np.meshgrid(LEVELS, gaps, SLOPES, SLOPES, indexing="ij"))
    return below.astype(np.float32), above.astype(np.float32)


def _spread(values: Floats, mass: Floats, start: float, step: float, bins: int, sides: int) -> Spread:
    """A histogram in which each of the `sides` grid values behind a value is spread over its step."""
    width = step / FINE
    density = np.bincount(np.clip(np.rint((values - start) / width), 0, bins - 1).astype(int), mass, bins)
    for _ in range(sides):
        density = np.convolve(density, np.full(FINE, 1 / FINE), "same")
    below = np.concatenate([[0.0], np.cumsum(density)])
    return Spread(start + width * (np.arange(bins + 1) - 0.5), below / below[-1])
