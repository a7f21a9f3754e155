"""The learning-rate window of a cell, measured from its finished runs.

Definition. Fix a cell, a budget in steps and a threshold. A run succeeds if its validation accuracy at the end reaches
the threshold. Let p(x) be the share of all seeds that succeed at learning rate 10^x. The window's edges are the lowest
and the highest x at which p crosses 1/2; its width is their distance, in decades. It belongs to the average over seeds,
never to one seed, and to the budget: a window is a window at so many steps.

Edges and width are given as the median and the middle 90 % of their posterior (`posterior`, `edges`). Runs in a hole
(`holes`) are set aside, so that the edges remain the outermost ones.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.errors import BadInput
from recollect.window.edges import INTERVAL, Edges, edges
from recollect.window.holes import Hole, holes, outside
from recollect.window.posterior import Mesh, fit
from recollect.window.reading import ENOUGH, Rate, Reading, best, middle_half, rates, sensitivity, widest_gap, within

THRESHOLD = 0.9
BEST_AT_EDGE = "best lr at the edge of the grid"
OPEN_LEFT, OPEN_RIGHT = "window open to the left", "window open to the right"
NOT_ONE = "not one interval"
NEVER = "never solved"
RARELY = "solved by fewer than half of the seeds"
PERHAPS = "perhaps solved by fewer than half of the seeds at every lr"
PATCHY = "seeds fail inside the window"
RELIABLE = 0.75
"""The share of the runs in the middle half of a window that is to succeed."""

SURE = 0.9
"""That there is no window is said where it is this probable; from 1 - SURE on, a window comes with a warning."""

QUANTILES = 200


@dataclass(frozen=True)
class Estimate:
    """A median and the 90 % interval; an infinite end means that the runs do not bound it."""

    value: float
    low: float
    high: float

    def interval(self) -> str:
        """`1.32 to 1.74`, or `1.32 or more`."""
        return f"{self.low:.2f} " + ("or more" if math.isinf(self.high) else f"to {self.high:.2f}")


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
    inside: tuple[int, int]  # runs in the middle half, holes apart: how many succeeded, how many there are
    gap: float  # the widest untested stretch inside, in decades
    flags: tuple[str, ...]
    threshold: float
    steps: int
    low: float  # the range in which the edges were looked for, log10 lr
    high: float
    widths: tuple[float, ...]  # evenly spaced quantiles of the width, 0 where there is no window

    @property
    def n_runs(self) -> int:
        """The runs that it rests on."""
        return sum(rate.total for rate in self.rates)

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
    chosen = within(readings, low, high)
    if not chosen:
        raise BadInput("window: no finished run of this cell in the range of learning rates; run some first")
    found = rates(chosen, threshold)
    grid = Mesh(math.log10(low or found[0].lr), math.log10(high or found[-1].lr))
    gone = holes(grid.low, grid.high, found)
    known = edges(fit(grid, outside(gone, found)))
    exists = any(2 * rate.solved >= rate.total for rate in found) and known.none <= SURE
    lower, upper = _bounded(known, grid) if exists else (None, None)
    inside = _inside(outside(gone, found), lower, upper)
    best_lr = best(found, (known.lower.median + known.upper.median) / 2).lr
    return Window(
        lower=lower,
        upper=upper,
        width=_width(known, lower, upper),
        best_lr=best_lr,
        rates=tuple(found),
        sensitivity=sensitivity(chosen),
        holes=tuple(gone),
        inside=inside,
        gap=_gap(found, lower, upper),
        flags=tuple(_flags(found, lower, upper, best_lr, gone, inside, known.none)),
        threshold=threshold,
        steps=steps,
        low=grid.low,
        high=grid.high,
        widths=tuple(_width_at(known, (i + 0.5) / QUANTILES) for i in range(QUANTILES)) if exists else (0.0,),
    )


def _bounded(known: Edges, grid: Mesh) -> tuple[Estimate, Estimate]:
    """The edges; one that may lie outside of the range has no bound on that side."""
    (low, inner), (outer, high) = known.lower.interval(), known.upper.interval()
    inner, outer = max(inner, grid.low), min(outer, grid.high)
    lower = Estimate(max(known.lower.median, grid.low), low if low >= grid.low else -math.inf, inner)
    upper = Estimate(min(known.upper.median, grid.high), outer, high if high <= grid.high else math.inf)
    return lower, upper


def _width(known: Edges, lower: Estimate | None, upper: Estimate | None) -> Estimate | None:
    """The width, as far as there is a window; its interval reaches down to 0 where there may be none."""
    if lower is None or upper is None:
        return None
    tail = (1 - INTERVAL) / 2
    is_open = math.isinf(lower.low) or math.isinf(upper.high)
    value = upper.value - lower.value if is_open else known.width.median
    high = math.inf if is_open else known.width.quantile(1 - tail)
    return Estimate(value, min(_width_at(known, tail), value), high)


def _width_at(known: Edges, share: float) -> float:
    """The width with so much of the probability below it; no window is of width 0."""
    return 0.0 if share <= known.none else known.width.quantile((share - known.none) / (1 - known.none))


def _gap(found: Sequence[Rate], lower: Estimate | None, upper: Estimate | None) -> float:
    if lower is None or upper is None:
        return 0.0
    start, end = widest_gap([rate.x for rate in found], lower.value, upper.value)
    return end - start


def _inside(found: Sequence[Rate], lower: Estimate | None, upper: Estimate | None) -> tuple[int, int]:
    """Successes and runs in the middle half of the window."""
    if lower is None or upper is None:
        return 0, 0
    start, end = middle_half(lower.value, upper.value)
    runs = [rate for rate in found if start <= rate.x <= end]
    return sum(rate.solved for rate in runs), sum(rate.total for rate in runs)


def _flags(
    found: Sequence[Rate],
    lower: Estimate | None,
    upper: Estimate | None,
    best_lr: float,
    gone: Sequence[Hole],
    inside: tuple[int, int],
    none: float,
) -> Iterator[str]:
    """What a reader must know before using the numbers."""
    if lower is None or upper is None:
        yield RARELY if any(rate.solved for rate in found) else NEVER
    elif best_lr in (found[0].lr, found[-1].lr):
        yield BEST_AT_EDGE
    if lower is not None and none > 1 - SURE:
        yield PERHAPS
    if lower is not None and math.isinf(lower.low):
        yield OPEN_LEFT
    if upper is not None and math.isinf(upper.high):
        yield OPEN_RIGHT
    if gone:
        yield NOT_ONE
    if inside[1] >= ENOUGH and inside[0] < RELIABLE * inside[1]:
        yield PATCHY


def _span(low: float, high: float) -> str:
    """Two log10 learning rates as learning rates."""
    if math.isinf(low):
        return f"below {10**high:.3g}"
    return f"above {10**low:.3g}" if math.isinf(high) else f"{10**low:.3g} to {10**high:.3g}"
