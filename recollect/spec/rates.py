"""Learning rates that are asked for lie on a lattice, so that searches and grids share runs."""

PER_DECADE = 40
"""Places to a decade."""

DIGITS = 6


def on_lattice(x: float) -> float:
    """The learning rate nearest to 10^x that may be asked for; rounded, so that it is the same number everywhere."""
    return float(f"{10 ** (round(x * PER_DECADE) / PER_DECADE):.{DIGITS}g}")
