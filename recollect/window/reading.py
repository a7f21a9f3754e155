"""What a finished run tells about its cell, and plain sums over readings."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.spec.rates import DIGITS, PER_DECADE

ENOUGH = 4
"""The runs that are wanted in the middle half of a window, and from which on it is judged."""

SLACK = 1e-5
"""The lattice is rounded; an end of a range may lie that little outside of it."""


@dataclass(frozen=True)
class Reading:
    """One finished run: validation accuracy and, where known, its last and first validation loss (None: not finite)."""

    lr: float
    seed: int
    accuracy: float
    loss: float | None = None
    first_loss: float | None = None

    @property
    def x(self) -> float:
        """log10 lr."""
        return math.log10(self.lr)


@dataclass(frozen=True)
class Rate:
    """The runs of one learning rate: how many there are, how many succeeded, their mean accuracy."""

    lr: float
    solved: int
    total: int
    accuracy: float

    @property
    def x(self) -> float:
        """log10 lr."""
        return math.log10(self.lr)

    @property
    def failed(self) -> int:
        """How many did not succeed."""
        return self.total - self.solved


def rates(readings: Sequence[Reading], threshold: float) -> list[Rate]:
    """The solve rate of every learning rate, lowest first; a run succeeds if its accuracy reaches the threshold."""
    by_lr: dict[float, list[float]] = {}
    for reading in readings:
        by_lr.setdefault(reading.lr, []).append(reading.accuracy)
    return [
        Rate(lr, sum(accuracy >= threshold for accuracy in found), len(found), sum(found) / len(found))
        for lr, found in sorted(by_lr.items())
    ]


def best(found: Sequence[Rate], middle: float) -> Rate:
    """The learning rate with the best mean accuracy; among equals the one nearest to the window's middle."""
    return max(found, key=lambda rate: (rate.accuracy, -abs(rate.x - middle)))


def sensitivity(readings: Sequence[Reading]) -> float | None:
    """Mean over log lr of min(loss, first loss), less the best: what a blind choice of the learning rate costs.

    Wortsman et al. 2023. Seeds are averaged first; between learning rates the loss is taken as straight lines, because
    a search does not space them evenly. None where losses are missing.
    """
    by_lr: dict[float, list[float]] = {}
    for reading in readings:
        if reading.first_loss is None:
            return None
        loss = reading.first_loss if reading.loss is None else min(reading.loss, reading.first_loss)
        by_lr.setdefault(reading.x, []).append(loss)
    x = np.array(sorted(by_lr))
    y = np.array([np.mean(by_lr[place]) for place in x])
    if len(x) < 2:
        return 0.0 if len(x) else None
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    return area / float(x[-1] - x[0]) - float(y.min())


def widest_gap(tested: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """Begin and end of the widest untested stretch between `low` and `high`; the first among equals."""
    places = [low, *sorted(x for x in tested if low < x < high), high]
    return max(itertools.pairwise(places), key=lambda gap: (round(gap[1] - gap[0], DIGITS), -gap[0]))


def middle_half(lower: float, upper: float) -> tuple[float, float]:
    """The middle half of a window, at least as wide as the lattice."""
    middle, reach = (lower + upper) / 2, max((upper - lower) / 4, 1 / PER_DECADE)
    return middle - reach, middle + reach


def within(readings: Sequence[Reading], low: float | None, high: float | None) -> list[Reading]:
    """The readings between two learning rates, the ends included."""
    return [reading for reading in readings if in_range(reading.lr, low, high)]


def in_range(lr: float, low: float | None, high: float | None) -> bool:
    """Whether a learning rate lies between two others, the ends included."""
    return (low is None or lr >= low * (1 - SLACK)) and (high is None or lr <= high * (1 + SLACK))
