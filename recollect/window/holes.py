"""Is it one interval? Where runs fail between learning rates that work, weigh a hole against bad luck."""

import itertools
import math
from collections.abc import Sequence
from typing import TypeVar

from recollect.window.curve import FULL, GUESS
from recollect.window.posterior import COARSE, Mesh, fit
from recollect.window.reading import Rate, Reading

STRONG = 20.0
"""How many times better a hole must explain the runs than a curve without one (strong evidence, Kass and Raftery)."""

Placed = TypeVar("Placed", Rate, Reading)
Hole = tuple[float, float]
"""The lowest and the highest log10 lr that was seen to fail in it."""


def holes(low: float, high: float, found: Sequence[Rate]) -> list[Hole]:
    """The stretches of learning rates, between others that succeed, in which runs fail beyond bad luck."""
    grid, out = Mesh(low, high, COARSE), list[Hole]()
    while candidates := _stretches(rest := outside(out, found)):
        odds, hole = max((_odds(grid, hole, room, rest), hole) for hole, room in candidates)
        if odds < math.log(STRONG):
            break
        out.append(hole)
    return out


def outside(known: Sequence[Hole], found: Sequence[Placed]) -> list[Placed]:
    """What lies in none of the holes."""
    return [one for one in found if not any(low <= one.x <= high for low, high in known)]


def _stretches(found: Sequence[Rate]) -> list[tuple[Hole, float]]:
    """Neighbouring learning rates at which all runs failed, two runs at least, with a success on either side.

    With each goes the room for its two ends: the product of the distances to those successes.
    """
    out: list[tuple[Hole, float]] = []
    solved = [i for i, rate in enumerate(found) if rate.solved]
    for before, behind in itertools.pairwise(solved):
        inside = found[before + 1 : behind]
        if sum(rate.failed for rate in inside) > 1:
            room = (inside[0].x - found[before].x) * (found[behind].x - inside[-1].x)
            out.append(((inside[0].x, inside[-1].x), room))
    return out


def _odds(grid: Mesh, hole: Hole, room: float, found: Sequence[Rate]) -> float:
    """Log of how many times better a hole explains the runs than a curve without one.

    A hole may begin and end anywhere, so the room that the runs leave for its ends counts: two failures close to
    successes on either side are bad luck, the same two in an otherwise empty stretch speak for a hole.
    """
    rest = outside([hole], found)
    failed = sum(rate.failed for rate in found) - sum(rate.failed for rate in rest)
    with_hole = fit(grid, rest, FULL).log_evidence + failed * math.log1p(-GUESS)
    return with_hole - fit(grid, found, FULL).log_evidence + math.log(2 * room / (grid.high - grid.low) ** 2)
