"""What a finished run tells about its cell, and plain sums over readings."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from recollect.spec.rates import DIGITS, PER_DECADE

ENOUGH = 4
"""The runs that are wanted in the middle half of a window, and from which on it is judged."""

SLACK = 1e-5
"""The lattice is rounded; an end of a range may lie that little outside of it."""

K = TypeVar("K")
V = TypeVar("V")


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


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Key -> the values that it comes with, in the order given."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def rates(readings: Sequence[Reading], threshold: float) -> list[Rate]:
    """The solve rate of every learning rate, lowest first; a run succeeds if its accuracy reaches the threshold."""
    by_lr = grouped((reading.lr, reading.accuracy) for reading in readings)
    return [
        Rate(lr, sum(accuracy >= threshold for accuracy in found), len(found), sum(found) / len(found))
        for lr, found in sorted(by_lr.items())
    ]


def sensitivity(readings: Sequence[Reading]) -> float | None:
    """Mean over log lr of min(loss, first loss), less the best: what a blind choice of the learning rate costs.

    Wortsman et al. 2023. Seeds are averaged first; between learning rates the loss is taken as straight lines, because
    a search does not space them evenly. None where losses are missing.
    """
    known = [(one.x, (one.loss, one.first_loss)) for one in readings if one.first_loss is not None]
    if len(known) < len(readings) or not known:
        return None
    losses = grouped((x, first if loss is None else min(loss, first)) for x, (loss, first) in known)
    x = np.array(sorted(losses))
    y = np.array([np.mean(losses[place]) for place in x])
    if len(x) < 2:
        return 0.0
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


def in_range(lr: float, low: float | None, high: float | None) -> bool:
    """Whether a learning rate lies between two others, the ends included."""
    return (low is None or lr >= low * (1 - SLACK)) and (high is None or lr <= high * (1 + SLACK))
