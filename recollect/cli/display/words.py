"""Numbers of windows in words."""

import math

from recollect.window import Estimate


def edge(found: Estimate | None) -> str:
    """An edge as a learning rate, with its interval."""
    if found is None:
        return "-"
    low = "..." if math.isinf(found.low) else f"{10**found.low:.2g}"
    high = "..." if math.isinf(found.high) else f"{10**found.high:.2g}"
    return f"{10**found.value:.2g} ({low} to {high})"


def decades(found: Estimate | None) -> str:
    """A width with its interval."""
    return "no window" if found is None else str(found)


def probability(share: float) -> str:
    """Two digits, and no certainty that the draws do not give."""
    return "<0.01" if share < 0.01 else ">0.99" if share > 0.99 else f"{share:.2f}"


def signed(found: Estimate) -> str:
    """A change in decades with its interval."""
    low, high = ("..." if math.isinf(x) else f"{x:+.2f}" for x in (found.low, found.high))
    return f"{found.value:+.2f} ({low} to {high})"


def chance(least: float, greatest: float) -> str:
    """A probability, or between which two it lies."""
    return " to ".join(dict.fromkeys((probability(least), probability(greatest))))
