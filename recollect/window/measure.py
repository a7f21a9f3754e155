"""The learning-rate window of a cell, measured from its finished runs.

Definition. Fix a cell, a budget in steps and a threshold. A run succeeds if its validation accuracy at the end reaches
the threshold. Let p(x) be the share of all seeds that succeed at learning rate 10^x. The window's edges are the lowest
and the highest x at which p crosses 1/2; its width is their distance, in decades. It belongs to the average over seeds,
never to one seed, and to the budget: a window is a window at so many steps.

Edges and width are given as the median and the middle 90 % of their posterior (`posterior`, `edges`). Runs in a hole
(`holes`) are set aside, so that the edges remain the outermost ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import BadInput
from recollect.window.edges import TAIL, Edges, Spread, centre, edges, within
from recollect.window.holes import Hole, holes, outside
from recollect.window.posterior import Mesh, fit
from recollect.window.reading import ENOUGH, Rate, Reading, in_range, middle_half, rates, sensitivity, widest_gap

THRESHOLD = 0.9
BEST_AT_EDGE = "best lr at the edge of the grid"
OPEN_LEFT, OPEN_RIGHT = "window open to the left", "window open to the right"
NOT_ONE = "not one interval"
NEVER = "never solved"
RARELY = "solved by fewer than half of the seeds"
PERHAPS = "perhaps solved by fewer than half of the seeds at every lr"
PATCHY = "seeds fail inside the window"
ELSEWHERE = "runs succeed outside of the window"
RELIABLE = 0.75
"""The share of the runs in the middle half of a window that is to succeed."""

SURE = 0.9
"""That there is no window is said where it is this probable; from 1 - SURE on, a window comes with a warning."""

NEARLY = 0.01
"""Accuracies of single seeds that differ by less do not tell which learning rate is better."""

QUANTILES = 200
SHARES = tuple((i + 0.5) / QUANTILES for i in range(QUANTILES))


@dataclass(frozen=True)
class Estimate:
    """A median and the 90 % interval; an infinite end means that the runs do not bound it."""

    value: float
    low: float
    high: float

    def interval(self) -> str:
        """`1.32 to 1.74`, or `1.32 or more`."""
        return f"{self.low:.2f} " + ("or more" if math.isinf(self.high) else f"to {self.high:.2f}")

    def __str__(self) -> str:
        """`1.50 (1.32 to 1.74)`."""
        return f"{self.value:.2f} ({self.interval()})"


@dataclass(frozen=True)
class Window:
    """The measured window. Edges are log10 lr, the width is in decades; they are None where there is no window."""

    lower: Estimate | None
    upper: Estimate | None
    width: Estimate | None
    best_lr: float
    rates: tuple[Rate, ...]
    sensitivity: float | None
    holes: tuple[Hole, ...]
    none: float  # the probability that there is no window
    threshold: float
    steps: int
    low: float  # the range in which the edges were looked for, log10 lr
    high: float
    widths: tuple[
        float, ...
    ]  # evenly spaced quantiles of the width, of what the range holds unless it is closed; 0 as far as there is none
    centres: tuple[float, ...]  # the same of the middle between the edges, log10 lr; empty where there is no window

    @property
    def n_runs(self) -> int:
        """The runs that it rests on."""
        return sum(rate.total for rate in self.rates)

    @property
    def inside(self) -> tuple[int, int]:
        """Runs in the middle half, holes apart: how many succeeded, how many there are."""
        if self.lower is None or self.upper is None:
            return 0, 0
        start, end = middle_half(self.lower.value, self.upper.value)
        runs = [rate for rate in outside(self.holes, self.rates) if start <= rate.x <= end]
        return sum(rate.solved for rate in runs), sum(rate.total for rate in runs)

    @property
    def gap(self) -> float:
        """The widest untested stretch inside, in decades."""
        if self.lower is None or self.upper is None:
            return 0.0
        start, end = widest_gap([rate.x for rate in self.rates], self.lower.value, self.upper.value)
        return end - start

    @property
    def failing(self) -> float:
        """The decades of its holes, each up to halfway to the rates around it that succeed."""
        solved = [rate.x for rate in self.rates if rate.solved]
        before = [max(x for x in solved if x < low) for low, _ in self.holes]
        behind = [min(x for x in solved if x > high) for _, high in self.holes]
        ends = zip(self.holes, before, behind, strict=True)
        return sum((high + above) / 2 - (low + below) / 2 for (low, high), below, above in ends)

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader must know before using the numbers."""
        if self.lower is None or self.upper is None:
            told = {RARELY if any(rate.solved for rate in self.rates) else NEVER: True}
        else:
            told = {
                BEST_AT_EDGE: self.best_lr in (self.rates[0].lr, self.rates[-1].lr),
                PERHAPS: self.none > 1 - SURE,
                OPEN_LEFT: math.isinf(self.lower.low),
                OPEN_RIGHT: math.isinf(self.upper.high),
                ELSEWHERE: any(one.solved and not self.lower.low <= one.x <= self.upper.high for one in self.rates),
            }
        solved, runs = self.inside
        told |= {NOT_ONE: bool(self.holes), PATCHY: runs >= ENOUGH and solved < RELIABLE * runs}
        return tuple(flag for flag, holds in told.items() if holds)

    def __str__(self) -> str:
        """One paragraph."""
        head = f"Window at {self.steps:,} steps, for a validation accuracy >= {self.threshold:g}: "
        notes = [f"not one interval: fails at lr {_span(*hole)}" for hole in self.holes]
        notes += [flag for flag in self.flags if flag != NOT_ONE]
        return head + self._edges() + self._basis() + "".join(f" Note: {note}." for note in notes)

    def _edges(self) -> str:
        if self.lower is None or self.upper is None or self.width is None:
            return f"none; best lr {self.best_lr:.3g}."
        return (
            f"lr {_span(self.lower.value, self.upper.value)}, {self.width.value:.2f} decades wide"
            f" (90 % interval {self.width.interval()});"
            f" left edge {_span(self.lower.low, self.lower.high)}, right edge {_span(self.upper.low, self.upper.high)};"
            f" best lr {self.best_lr:.3g}; {self.inside[0]} of {self.inside[1]} runs in its middle half succeed,"
            f" its widest untested stretch is {self.gap:.2f} decades."
        )

    def _basis(self) -> str:
        tested = _span(self.rates[0].x, self.rates[-1].x)
        sensitive = "" if self.sensitivity is None else f", lr sensitivity {self.sensitivity:.3g} over that range"
        plural = "s" if self.n_runs > 1 else ""
        return f" From {self.n_runs} run{plural} at {len(self.rates)} learning rates, {tested}{sensitive}."


def measure(
    readings: Sequence[Reading],
    *,
    steps: int,
    threshold: float = THRESHOLD,
    low: float | None = None,
    high: float | None = None,
) -> Window:
    """The window of one cell from its runs between two learning rates (all of them, if none are given)."""
    chosen = [reading for reading in readings if in_range(reading.lr, low, high)]
    if not chosen:
        raise BadInput("window: no finished run of this cell in the range of learning rates; run some first")
    found = rates(chosen, threshold)
    grid = Mesh(math.log10(low or found[0].lr), math.log10(high or found[-1].lr))
    gone = holes(grid.low, grid.high, found)
    posterior = fit(grid, outside(gone, found))
    known = edges(posterior)
    exists = known.none <= SURE and any(_counts(rate, known) for rate in found)
    lower, upper = _edges_in(known, grid) if exists else (None, None)
    is_closed = bool(lower and upper and math.isfinite(upper.high - lower.low))
    widths = known.width if is_closed else within(posterior)
    middle = (known.lower.median + known.upper.median) / 2
    top = max(rate.accuracy for rate in found) - NEARLY
    return Window(
        lower=lower,
        upper=upper,
        width=None if lower is None or upper is None else _width(lower, upper, known, widths),
        best_lr=min((rate for rate in found if rate.accuracy >= top), key=lambda rate: abs(rate.x - middle)).lr,
        rates=tuple(found),
        sensitivity=sensitivity(chosen),
        holes=tuple(gone),
        none=known.none,
        threshold=threshold,
        steps=steps,
        low=grid.low,
        high=grid.high,
        widths=tuple(_at(widths, known.none, share) for share in SHARES),
        centres=tuple(map(centre(posterior).quantile, SHARES)) if exists else (),
    )


def _counts(rate: Rate, known: Edges) -> bool:
    """Whether it makes a window: half of its runs succeed, and it lies between the medians of the two edges.

    One success among many failures leaves edges that may be anywhere, and whose medians hold no success.
    """
    return 2 * rate.solved >= rate.total and known.lower.median <= rate.x <= known.upper.median


def _edges_in(known: Edges, grid: Mesh) -> tuple[Estimate, Estimate]:
    """The edges. One that may lie outside of the range has no bound on that side."""
    (low, inner), (outer, high) = known.lower.interval(), known.upper.interval()
    inner, outer = max(inner, grid.low), min(outer, grid.high)
    lower = Estimate(max(known.lower.median, grid.low), low if low >= grid.low else -math.inf, inner)
    return lower, Estimate(min(known.upper.median, grid.high), outer, high if high <= grid.high else math.inf)


def _width(lower: Estimate, upper: Estimate, known: Edges, widths: Spread) -> Estimate:
    """Of an open window what the range holds of it is a bound from below: how far beyond it reaches, nobody knows.

    The interval reaches down to 0 where there may be no window.
    """
    is_open = math.isinf(upper.high - lower.low)
    value = upper.value - lower.value if is_open else widths.median
    low = min(_at(widths, known.none, TAIL), value)
    return Estimate(value, low, math.inf if is_open else widths.quantile(1 - TAIL))


def _at(widths: Spread, none: float, share: float) -> float:
    """The width with so much of the probability below it; no window is of width 0."""
    return 0.0 if share <= none else widths.quantile((share - none) / (1 - none))


def _span(low: float, high: float) -> str:
    """Two log10 learning rates as learning rates."""
    if math.isinf(low):
        return f"below {10**high:.3g}"
    return f"above {10**low:.3g}" if math.isinf(high) else f"{10**low:.3g} to {10**high:.3g}"
