"""What the runs say about a window: a posterior over success curves, on a grid.

A curve (see `curve`) has a left side (a, u), to which its top is counted, and a right side (b, v). All left sides are
rows, all right sides columns, and a matrix holds the probability of every pair. A run multiplies it by the run's
likelihood, an outer product of what each side says, so that an update needs no logarithm; rows and columns that have
become impossible are dropped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.window.curve import GUESS, TOPS, Floats, Tops, logistic
from recollect.window.reading import Rate

SLOPES = (0.015, 0.03, 0.06, 0.12, 0.24)
"""The slopes that are thought possible, all equally likely, in decades."""

MARGIN = 0.5
"""How far outside the range an edge may lie, in decades."""

STEP = 0.03
COARSE = 0.1
NEGLIGIBLE = 1e-7
IMPOSSIBLE = 1e-25
"""No probability falls below this: far smaller numbers are denormal, which makes products a hundred times slower."""

TINY = 1e-30
FEW = 8
"""Runs at one learning rate up to which a product stands for a power."""

KEPT = 64
"""So many posteriors of single runs are kept, two for each of the searches of a large study."""

_kept: dict[tuple["Mesh", Tops, "Singles"], "Posterior"] = {}


Singles: TypeAlias = tuple[tuple[float, bool], ...]
"""Runs one by one: log10 lr, and whether it succeeded."""


@dataclass(frozen=True)
class Mesh:
    """The places at which a side may lie: from `low` to `high` (log10 lr) and a margin, every `step` decades."""

    low: float
    high: float
    step: float = STEP

    @property
    def places(self) -> Floats:
        """log10 lr of every place."""
        count = math.ceil((self.high - self.low + 2 * MARGIN) / self.step) + 1
        return self.low - MARGIN + self.step * np.arange(count)


@dataclass(frozen=True)
class Sides:
    """Left or right sides: place, slope and height of each (of a left one top - guess, of a right one 1), by place."""

    place: Floats
    slope: Floats
    height: Floats

    def kept(self, keep: NDArray[np.bool_] | NDArray[np.intp]) -> "Sides":
        """Some of them."""
        return Sides(self.place[keep], self.slope[keep], self.height[keep])

    def by_place(self, values: Floats) -> Floats:
        """Sum the last axis over the slopes of each place."""
        starts = np.flatnonzero(np.diff(self.place, prepend=-np.inf))
        out: Floats = np.add.reduceat(values, starts, axis=-1)
        return out


@dataclass(frozen=True)
class Posterior:
    """The probability of every pair of a left and a right side, and of the runs seen so far (log evidence)."""

    grid: Mesh
    left: Sides
    right: Sides
    mass: Floats  # (left, right), sums to 1
    log_evidence: float = 0.0

    def factors(self, x: Floats) -> tuple[Floats, Floats]:
        """The two factors of p - guess at every x: (X, left), which has the height, and (X, right)."""
        at = x.astype(np.float32)[..., None]
        left = self.left.height * logistic((at - self.left.place) / self.left.slope)
        return left, logistic((self.right.place - at) / self.right.slope)

    def success(self, x: float) -> float:
        """The probability that the next run at x succeeds."""
        left, right = self.factors(np.asarray(x))
        return GUESS + float(left @ self.mass @ right)

    def updated(self, x: float, solved: float, failed: float) -> "Posterior":
        """After runs at x. Fractions of a run stand for a run that is expected, not seen."""
        left, right = self.factors(np.asarray(x))
        mass = _likelihood(left, right, solved, failed)
        mass *= self.mass
        rows, columns = mass.sum(1), mass.sum(0)
        total = float(rows.sum(dtype=float))
        tall, wide = rows > NEGLIGIBLE * total, columns > NEGLIGIBLE * total
        if not (tall.all() and wide.all()):
            mass = mass[np.ix_(tall, wide)]
        mass /= total
        np.maximum(mass, IMPOSSIBLE, out=mass)
        return Posterior(
            self.grid, self.left.kept(tall), self.right.kept(wide), mass, self.log_evidence + math.log(total)
        )

    def information(self, x: Floats) -> Floats:
        """Nats that one run at x is expected to tell about the left side's place, plus those about the right side's."""
        left, right = self.factors(x)
        rows, columns = self.mass.sum(1), self.mass.sum(0)
        with_row = GUESS * rows + left * (right @ self.mass.T)
        with_column = GUESS * columns + right * (left @ self.mass)
        about_left = _told(self.left.by_place(with_row), self.left.by_place(rows))
        return about_left + _told(self.right.by_place(with_column), self.right.by_place(columns))


def fit(grid: Mesh, found: Sequence[Rate], tops: Tops = TOPS) -> Posterior:
    """The posterior after the runs of every learning rate."""
    posterior = prior(grid, tops)
    for rate in sorted(found, key=lambda rate: -rate.solved):  # successes leave fewest curves: what follows is fast
        parts = math.ceil(max(rate.solved, rate.failed) / FEW)  # the likelihood of very many at once would be zero
        for i in range(parts):
            solved, failed = ((i + 1) * n // parts - i * n // parts for n in (rate.solved, rate.failed))
            posterior = posterior.updated(rate.x, solved, failed)
    return posterior


def after(grid: Mesh, runs: Singles, tops: Tops = TOPS) -> Posterior:
    """The posterior after single runs (x, success); the same runs and one more cost one update."""
    begun = next((n for n in range(len(runs), 0, -1) if (grid, tops, runs[:n]) in _kept), 0)
    posterior = _kept[grid, tops, runs[:begun]] if begun else prior(grid, tops)
    for x, solved in runs[begun:]:
        posterior = posterior.updated(x, float(solved), float(not solved))
    _kept.pop((grid, tops, runs), None)
    _kept[grid, tops, runs] = posterior
    if len(_kept) > KEPT:
        del _kept[next(iter(_kept))]
    return posterior


@lru_cache(maxsize=8)
def prior(grid: Mesh, tops: Tops) -> Posterior:
    """Every left place up to every right place is equally likely, and so is every slope; tops as they come."""
    left, right = _sides(grid, [top - GUESS for top, _ in tops]), _sides(grid, [1.0])
    weight = np.tile(np.asarray([share for _, share in tops], dtype=np.float32), len(right.place))
    mass = (left.place[:, None] <= right.place) * weight[:, None]
    return Posterior(grid, left, right, mass / mass.sum())


def _sides(grid: Mesh, heights: Sequence[float]) -> Sides:
    """Every place with every slope and every height."""
    every = np.meshgrid(grid.places, SLOPES, heights, indexing="ij")
    return Sides(*(values.ravel().astype(np.float32) for values in every))


def _likelihood(left: Floats, right: Floats, solved: float, failed: float) -> Floats:
    """p^solved (1 - p)^failed for every pair of sides, in as few passes as can be: these are the costly lines."""
    p: Floats = np.multiply.outer(left, right)
    if (solved, failed) == (0, 1):
        np.subtract(np.float32(1 - GUESS), p, out=p)
        return p
    p += np.float32(GUESS)
    if (solved, failed) == (1, 0):
        return p
    if not failed:
        return _power(p, solved)
    missed = _power(1 - p, failed)
    return missed * _power(p, solved) if solved else missed


def _power(p: Floats, times: float) -> Floats:
    """p^times; numpy's own power takes ten times as long as a few products."""
    if times != int(times) or times > FEW:
        out: Floats = p**times
        return out
    out = p.copy()
    for _ in range(int(times) - 1):
        out *= p
    return out


def _told(success: Floats, place: Floats) -> Floats:
    """Mutual information of a run's success and a place, from P(success, place) (X, P) and P(place) (P)."""
    within = (place * _entropy(success / np.maximum(place, TINY))).sum(-1)
    out: Floats = _entropy(success.sum(-1)) - within
    return out


def _entropy(p: Floats) -> Floats:
    p = np.clip(p, 1e-6, 1 - 1e-6)
    out: Floats = -p * np.log(p) - (1 - p) * np.log1p(-p)
    return out
