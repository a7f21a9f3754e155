"""The success curve: the probability, over seeds, that a run with learning rate lr succeeds.

With x = log10 lr and s the logistic function,

    p(x) = guess + (top - guess) s((x - a) / u) s((b - x) / v).

On the left, training is too slow for the budget, on the right it breaks; each side fails on its own, at a place (a, b)
and with a slope (u, v: a quarter of the decades in which s goes from 0.12 to 0.88) of its own. `top` < 1 is the honest
part: also in the middle of a window a seed fails, now and then or, in some cells, one in four, and such a run must not
end the window; `guess` > 0 does the same for a success far outside.

The window's edges are not a and b but the two x at which p(x) = 1/2. They differ where a window is not much wider than
its slopes; where p stays below 1/2 there is no window.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

GUESS = 0.01
Tops = tuple[tuple[float, float], ...]
TOPS: Tops = ((0.96, 0.8), (0.75, 0.2))
"""The tops that are thought possible, and how likely each is before any run."""

FULL: Tops = TOPS[:1]
"""What the next run and the look for holes go by: failures amid successes are worth a run, not yet explained."""

HALVINGS = 40


def logistic(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), for any z."""
    out: Floats = 0.5 * (1 + np.tanh(0.5 * z))
    return out


def crossings(top: Floats, gap: Floats, u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Where p = 1/2: how far above a, and how far below b = a + gap; NaN where p stays below."""
    half = (0.5 - GUESS) / (top - GUESS)
    peak = _halve(lambda x: (1 - logistic(x / u)) / u > (1 - logistic((gap - x) / v)) / v, np.zeros_like(gap), gap)
    exists = logistic(peak / u) * logistic((gap - peak) / v) >= half
    below = _halve(lambda x: logistic(x / u) * logistic((gap - x) / v) < half, np.zeros_like(gap), peak)
    above = _halve(lambda x: logistic(x / u) * logistic((gap - x) / v) >= half, peak, gap)
    return np.where(exists, below, np.nan), np.where(exists, gap - above, np.nan)


def _halve(is_left: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Bisection, elementwise: the place up to which `is_left` holds."""
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        left = is_left(middle)
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    return low
