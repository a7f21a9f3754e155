"""How runs end at each learning rate, as stacked shares. First the value, then its drawing."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from recollect.report.axes import empty, legend
from recollect.report.kind import ENDS, FigureKind, Panel, Runs
from recollect.report.style import OUTCOMES, outcome_colour
from recollect.store import Record
from recollect.window.select import by_label, by_lr, finished


@dataclass(frozen=True)
class Bands:
    """Outcome -> its share of the seeds at every learning rate; the shares of one learning rate sum to 1."""

    title: str
    lrs: tuple[float, ...]
    counts: tuple[int, ...]
    shares: dict[str, tuple[float, ...]]


def bands(records: Sequence[Record], title: str = "", among: Sequence[Record] = ()) -> Bands:
    """The outcomes of the finished runs: solved lowest, then what is ever less learned, diverged on top.

    The outcomes of the runs that they stand `among` are named too, so that panels can share a legend and its colours.
    """
    rates = by_lr(records)
    ended = {lr: [record.outcome or "" for record in runs] for lr, runs in rates.items()}
    kinds = sorted({record.outcome or "" for record in finished([*records, *among])}, key=rank)
    shares = {kind: tuple(found.count(kind) / len(found) for found in ended.values()) for kind in kinds}
    return Bands(title, tuple(rates), tuple(len(found) for found in ended.values()), shares)


def rank(outcome: str) -> tuple[int, str]:
    """The place of an outcome in the stack; plateaus among each other by name."""
    kind, order = outcome.split(" ")[0], list(OUTCOMES)
    return (order.index(kind) if kind in order else len(order)), outcome


def _values(runs: Runs, title: str) -> list[Bands]:
    """A panel a label, all with the same outcomes."""
    groups = by_label(runs.labelled).items()
    return [
        bands(records, ", ".join(filter(None, (label, title))), [record for _, record in runs.all])
        for label, records in groups
    ]


def draw_bands(value: Bands, axes: Axes) -> None:
    """A stacked bar a learning rate, as wide as the distance to its neighbours."""
    axes.set_xscale("log")
    axes.set(xlabel="learning rate", ylabel="seeds", ylim=(0, 1), title=value.title)
    if not value.lrs:
        empty(axes)
        return
    bounds, bottom = edges(value.lrs), np.zeros(len(value.lrs))
    for kind, shares in value.shares.items():
        hue = outcome_colour(kind, value.shares)
        axes.bar(bounds[:-1], shares, np.diff(bounds), bottom, align="edge", color=hue, label=kind, linewidth=0)
        bottom = bottom + shares
    axes.set_xlim(bounds[0], bounds[-1])
    axes.set_yticks([0, 1])
    legend(value.lrs, axes, handlelength=1, handleheight=1)


def edges(lrs: Sequence[float]) -> list[float]:
    """Where a bar ends and the next begins: half-way to the neighbours on the log scale."""
    x = [math.log10(lr) for lr in lrs]
    inner = [(a + b) / 2 for a, b in itertools.pairwise(x)]
    reach = (inner[0] - x[0], x[-1] - inner[-1]) if inner else (0.1, 0.1)
    return [10**bound for bound in (x[0] - reach[0], *inner, x[-1] + reach[1])]


def ends(drawn: Sequence[Callable[[Axes], None]]) -> list[Panel]:
    """Flat panels, under the learning rates of what they explain."""
    return [Panel(draw, ENDS, inches=0.85, is_extra=True, is_wide=True, aligns=True) for draw in drawn]


BANDS = FigureKind(
    "bands",
    value=_values,
    panels=lambda values: [
        replace(panel, is_extra=False) for panel in ends([partial(draw_bands, value) for value in values])
    ],
    charts=lambda page: [page.bands()],
    parts=(ENDS,),
)
