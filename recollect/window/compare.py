"""Windows against each other, and a search against an even grid."""

import bisect
import math
from collections.abc import Sequence

import numpy as np

from recollect.window.curve import GUESS, Floats, logistic
from recollect.window.edges import edges
from recollect.window.holes import outside
from recollect.window.measure import PATCHY, Window
from recollect.window.posterior import Mesh, Posterior, fit
from recollect.window.reading import Rate

STEP = 0.05
DRAWS = 12
SIZES = tuple(round(8 * 2 ** (i / 4)) for i in range(25))
"""The even grids that are tried: from 8 to 512 runs."""

Curve = tuple[float, float, float, float, float]
"""a, u, top - guess, b, v."""


def wider(first: Window, second: Window, share: float = 1.0) -> float:
    """The probability that the first window is wider than such a share of the second, the two cells being independent.

    As far as there may be no window its width is 0. Of an open one what lies in the range counts: a lower bound. A hole
    is no width.
    """
    one, other = less_holes(first)[:, None], share * less_holes(second)
    return float(np.mean((one > other) + 0.5 * (one == other)))


def surely_wider(first: Window, second: Window, share: float = 1.0) -> tuple[float, float]:
    """The least and the greatest that `wider` may be, whatever lies beyond the range."""
    return bounded(wider(first, second, share), first, second)


def bounded(chance: float, first: Window, second: Window) -> tuple[float, float]:
    """The least and the greatest that a probability of the first window being wider may be.

    What is known of an open window bounds its width from below only: it may decide that a window is wider than a closed
    one, never that it is narrower. That of a window in which many seeds fail is bounded from above only: lucky runs may
    hide a hole.
    """
    may_fall = is_open(second) or PATCHY in first.flags
    may_rise = is_open(first) or PATCHY in second.flags
    return (0.0 if may_fall else chance), (1.0 if may_rise else chance)


def is_open(window: Window) -> bool:
    """Whether an edge may lie beyond the range."""
    return window.width is not None and math.isinf(window.width.high)


def less_holes(window: Window) -> Floats:
    """Quantiles of the width less the stretches inside that are known to fail."""
    found: Floats = np.maximum(np.asarray(window.widths) - window.failing, 0.0)
    return found


def even_grid_runs(window: Window) -> int | None:
    """How many runs an even grid over the same range would have needed to know the edges as well, by simulation.

    Curves are drawn from the posterior; for each, even grids, one new seed at every learning rate, are simulated and
    analysed in the same way. The answer is the smallest size whose typical interval is not longer than the window's.
    None where there is no such number: the window is open or there is none, or the largest grid does not suffice.
    """
    if window.lower is None or window.upper is None or window.width is None or math.isinf(window.width.high):
        return None
    length = (window.lower.high - window.lower.low + window.upper.high - window.upper.low) / 2
    grid = Mesh(window.low, window.high, STEP)
    curves = _draw(fit(grid, outside(window.holes, window.rates)))
    place = bisect.bisect_left(SIZES, -length, key=lambda size: -_typical_interval(grid, curves, size))
    return SIZES[place] if place < len(SIZES) else None


def _draw(posterior: Posterior) -> list[Curve]:
    """Curves that stand for the posterior: one from each equal part of its probability."""
    below = np.cumsum(posterior.mass, dtype=float)
    at = np.searchsorted(below / below[-1], (np.arange(DRAWS) + 0.5) / DRAWS)
    row, column = np.unravel_index(at, posterior.mass.shape)
    left, right = posterior.left.kept(row), posterior.right.kept(column)
    return list(zip(left.place, left.slope, left.height, right.place, right.slope, strict=True))


def _typical_interval(grid: Mesh, curves: Sequence[Curve], size: int) -> float:
    """The median length of an edge's 90 % interval after an even grid of this size."""
    generator = np.random.default_rng(size)
    x = np.linspace(grid.low, grid.high, size)
    lengths: list[float] = []
    for a, u, height, b, v in curves:
        solved = generator.random(size) < GUESS + height * logistic((x - a) / u) * logistic((b - x) / v)
        runs = [Rate(10.0 ** x[i], int(solved[i]), 1, float(solved[i])) for i in generator.permutation(size)]
        known = edges(fit(grid, runs))
        lengths += [high - low for low, high in (known.lower.interval(), known.upper.interval())]
    return float(np.median(lengths))
