"""The fitted success curve of a cell, with its band: what the runs say between and beside them."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from recollect.report.style import Look
from recollect.window import Window
from recollect.window.curve import GUESS
from recollect.window.holes import outside
from recollect.window.posterior import Mesh, fit

PLACES, CURVES = 121, 4000
"""Learning rates at which the curve is told, and curves drawn from the posterior for its band."""

TAIL = 0.05


@dataclass(frozen=True)
class Success:
    """The share of seeds that succeed at every learning rate: its mean and the middle 90 %, by the posterior."""

    lrs: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def success(window: Window) -> Success | None:
    """The curve behind a window; runs in a hole are set aside, as they are for its edges.

    None where no run succeeds: of failures alone it would tell no more than how far apart they are.
    """
    if not any(rate.solved for rate in window.rates):
        return None
    known = fit(Mesh(window.low, window.high), outside(window.holes, window.rates))
    x = np.linspace(window.low, window.high, PLACES)
    rng, mass = np.random.default_rng(0), known.mass.astype(float).ravel()
    pairs = np.unravel_index(rng.choice(mass.size, CURVES, p=mass / mass.sum()), known.mass.shape)
    left, right = known.factors(x)
    curves = GUESS + left[:, pairs[0]] * right[:, pairs[1]]  # (X, curve)
    low, high = np.quantile(curves, (TAIL, 1 - TAIL), axis=1)
    lrs, *rest = (tuple(map(float, values)) for values in (10**x, curves.mean(1), low, high))
    return Success(lrs, *rest)


def draw_success(value: Success, look: Look, axes: Axes, *, faint: bool = False) -> None:
    """Mean and band; a faint one leaves others beside it to be seen."""
    axes.fill_between(value.lrs, value.low, value.high, color=look.colour, alpha=0.07 if faint else 0.16, linewidth=0)
    axes.plot(value.lrs, value.mean, color=look.colour, linestyle=look.line)
