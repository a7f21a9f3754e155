"""What a change does to a window: does it widen it, or only shift it? Pure functions of two measured windows.

Take the window of a cell and of the same cell without the change, a reference, as independent. The *widening* is the
difference of the two widths, the *shift* that of the two middles, both in decades; each is given as the median and the
middle 90 % of what both posteriors say, and by the probability that it is above zero.

An edge beyond the range is not known. What an open window might be decides nothing: an interval then has no end on that
side, and the probability is a range, from the least to the greatest, whatever lies beyond.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recollect.window.compare import bounded, is_open, less_holes
from recollect.window.curve import Floats
from recollect.window.edges import TAIL
from recollect.window.measure import NOT_ONE, OPEN_LEFT, OPEN_RIGHT, PATCHY, Estimate, Window

UNSURE = {NOT_ONE, OPEN_LEFT, OPEN_RIGHT, PATCHY}
"""Where a width is not known from both sides."""


@dataclass(frozen=True)
class Change:
    """How much more than the reference, in decades, and the least and greatest probability that it is above zero."""

    decades: Estimate
    above: tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        """Plain data; an end that the runs do not bound as None."""
        ends = {name: x if math.isfinite(x) else None for name, x in asdict(self.decades).items()}
        return ends | {"above_zero": list(self.above)}


@dataclass(frozen=True)
class Effect:
    """What a change does; no shift where one of the two has no window; `loss` is of accuracy at the best rate."""

    widening: Change
    shift: Change | None
    loss: float

    @property
    def gain(self) -> str:
        """What of accuracy it brings, in words; a loss that rounds to nothing has no sign of its own."""
        return f"{round(-self.loss, 3) + 0.0:+.1%}"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        shift = None if self.shift is None else self.shift.to_json()
        return {"widening": self.widening.to_json(), "shift": shift, "loss": self.loss}


def effect(window: Window, reference: Window, accuracy: float, before: float) -> Effect:
    """Of a change, from the windows and the accuracies at the best rate with and without it."""
    return Effect(widening(window, reference), shift(window, reference), before - accuracy)


def widening(window: Window, reference: Window) -> Change:
    """Of the width, which is 0 as far as there may be no window."""
    gaps = np.subtract.outer(less_holes(window), less_holes(reference))
    return _change(gaps, may_fall=is_open(reference), may_rise=is_open(window))


def shift(window: Window, reference: Window) -> Change | None:
    """Of the middle, upwards being positive; None where one has no window."""
    if not window.centres or not reference.centres:
        return None
    gaps = np.subtract.outer(window.centres, reference.centres)
    left, right = zip(_open_ends(window), _open_ends(reference)[::-1], strict=True)
    return _change(gaps, may_fall=any(left), may_rise=any(right))


def surely_widened(window: Window, reference: Window, by: float) -> tuple[float, float]:
    """The least and the greatest probability that the width has grown by so many decades, whatever lies beyond."""
    gaps = np.subtract.outer(less_holes(window), less_holes(reference))
    return bounded(float(np.mean(gaps >= by)), window, reference)


def surely_alike(window: Window, reference: Window, within: float) -> float:
    """The least probability that the widths, and the middles, differ by so many decades at most."""
    if not window.centres or not reference.centres or {*window.flags, *reference.flags} & UNSURE:
        return 0.0
    pairs = ((less_holes(window), less_holes(reference)), (window.centres, reference.centres))
    return min(float(np.mean(np.abs(np.subtract.outer(*pair)) <= within)) for pair in pairs)


def _change(gaps: Floats, *, may_fall: bool, may_rise: bool) -> Change:
    low, middle, high = np.quantile(gaps, (TAIL, 0.5, 1 - TAIL))
    chance = float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))
    ends = -math.inf if may_fall else float(low), math.inf if may_rise else float(high)
    return Change(Estimate(float(middle), *ends), (0.0 if may_fall else chance, 1.0 if may_rise else chance))


def _open_ends(window: Window) -> tuple[bool, bool]:
    """Whether its edges, the lower and the upper one, may lie beyond the range."""
    assert window.lower is not None
    assert window.upper is not None
    return math.isinf(window.lower.low), math.isinf(window.upper.high)
