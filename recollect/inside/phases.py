"""Phases of training, from curves alone: which plateaus a run rested on, and when it left them.

A rung of the task's ladder is visited while the loss stays within `NEAR` of it and is nearer to no other one (rungs as
near as that to one another are one), for at least `LEAST` of the steps that the curve covers. A transition leads from
one visited rung to the next: t10, t50, t90 are the steps by which so much of the way is gone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from recollect.inside.scores import Floats, strongest
from recollect.spec import RunSpec
from recollect.tasks import make_task

NEAR, LEAST = 0.1, 0.02
BUMP, LEVEL = 0.3, 0.05
Values = Sequence[float | None]


@dataclass(frozen=True)
class Visit:
    """A plateau that the loss rested on."""

    name: str
    level: float
    start: float
    end: float


@dataclass(frozen=True)
class Transition:
    """The way from one level to another."""

    before: float
    after: float
    t10: float
    t50: float
    t90: float

    @property
    def length(self) -> float:
        """Steps from a tenth of the way to nine tenths: the fewer, the sharper."""
        return self.t90 - self.t10


@dataclass(frozen=True)
class Phases:
    """What a run went through: the whole fall of the loss, the rise of the accuracy and of the score at the answer
    (None where nobody looked inside while it trained), and `bump`, the named pattern, where there is one."""

    visits: list[Visit]
    transitions: list[Transition]
    fall: Transition | None
    rise: Transition | None
    formed: Transition | None
    bump: Transition | None

    @property
    def lags(self) -> dict[str, float]:
        """Steps by which the second of two is half-way later than the first."""
        found = {
            "loss to accuracy": lag(self.fall, self.rise),
            "loss to score": lag(self.fall, self.formed),
            "accuracy to score": lag(self.rise, self.formed),
        }
        return {name: value for name, value in found.items() if value is not None}


def phases(
    curves: Mapping[str, Values], ladder: Mapping[str, float], floor: float, scores: Mapping[int, float] | None = None
) -> Phases:
    """Of the validation curves of a stored run; `floor` is the accuracy of the best guess without recall, `scores`
    those at the answer by step."""
    steps, loss, right = curves["step"], curves["validation_loss"], curves["validation_accuracy"]
    found = visits(steps, loss, ladder)
    ways = [transition(steps, loss, one, other) for one, other in pairwise(found) if one.level != other.level]
    seen = scores or {}
    formed = rise([*seen], [*seen.values()])
    return Phases(found, ways, fall(steps, loss), rise(steps, right), formed, bump_without_accuracy(ways, right, floor))


def phases_of(
    spec: RunSpec, curves: Mapping[str, Values], looks: Mapping[str, Mapping[int, Any]] | None = None
) -> Phases:
    """The same of a run, by the ladder and the floors of its task and by what was seen inside while it trained."""
    floor = max(make_task(spec.task).floors().values())
    return phases(curves, ladder(spec), floor, strongest(looks, spec.model.n_layers) if looks else None)


def ladder(spec: RunSpec) -> dict[str, float]:
    """Name -> loss of every plateau of a run's task."""
    return make_task(spec.task).ladder()


def visits(steps: Values, loss: Values, ladder: Mapping[str, float]) -> list[Visit]:
    """The plateaus in the order in which they were visited."""
    x, y = _arrays(steps, loss)
    rungs = joined(ladder)
    names, levels = list(rungs), np.array(list(rungs.values()))
    gap = np.abs(y[:, None] - levels)
    nearest = np.where(gap.min(1) <= NEAR, gap.argmin(1), -1)
    edges = [0, *(np.flatnonzero(np.diff(nearest)) + 1), len(nearest)]
    stays = [(nearest[a], x[a], x[b - 1]) for a, b in pairwise(edges) if b > a]
    least = LEAST * (x[-1] - x[0]) if len(x) else 0.0
    return [
        Visit(names[rung], float(levels[rung]), float(start), float(end))
        for rung, start, end in stays
        if rung >= 0 and end > start and end - start >= least
    ]


def joined(ladder: Mapping[str, float]) -> dict[str, float]:
    """Rungs from the top; those that no loss can tell apart are one, at the upper one's place."""
    found: dict[str, float] = {}
    for name, level in sorted(ladder.items(), key=lambda rung: -rung[1]):
        if found and (above := [*found][-1]) and found[above] - level <= NEAR:
            found[f"{above}, {name}"] = found.pop(above)
        else:
            found[name] = level
    return found


def transition(steps: Values, loss: Values, one: Visit, other: Visit) -> Transition:
    """From a visited plateau to the next."""
    x, y = _arrays(steps, loss)
    part = (x >= one.end) & (x <= other.start)
    return _way(x[part], y[part], one.level, other.level)


def rise(steps: Values, values: Values) -> Transition | None:
    """Of an accuracy or a score, from its first value to its largest; None where it does not rise by 0.05."""
    x, y = _arrays(steps, values)
    if not len(y) or y.max() - y[0] < LEVEL:
        return None
    return _way(x, y, float(y[0]), float(y.max()))


def fall(steps: Values, loss: Values) -> Transition | None:
    """The whole of a loss, from its first value to its smallest; None where it does not fall by 0.05."""
    x, y = _arrays(steps, loss)
    if not len(y) or y[0] - y.min() < LEVEL:
        return None
    return _way(x, y, float(y[0]), float(y.min()))


def lag(first: Transition | None, second: Transition | None) -> float | None:
    """Steps by which the second is half-way later than the first."""
    return None if first is None or second is None else second.t50 - first.t50


def bump_without_accuracy(ways: Sequence[Transition], right: Values, floor: float) -> Transition | None:
    """The pattern: the loss falls by `BUMP` from one plateau to another, and the accuracy ends at the floor."""
    ends = [value for value in right if value is not None][-1:]
    falls = [way for way in ways if way.before - way.after >= BUMP]
    if not falls or not ends or ends[0] > floor + LEVEL:
        return None
    return max(falls, key=lambda way: way.before - way.after)


def told(found: Phases) -> list[str]:
    """In words, a line each."""
    visited = ", ".join(f"{one.name} ({one.start:.0f} to {one.end:.0f})" for one in found.visits)
    lines = [f"plateaus, by steps: {visited or 'none'}"]
    lines += [f"from plateau to plateau: {_words(way)}" for way in found.transitions]
    if found.bump:
        lines.append(f"a bump without accuracy: {_words(found.bump)}")
    whole = {"loss": found.fall, "accuracy": found.rise, "score at the answer": found.formed}
    lines += [f"{name}: {_words(way)}" for name, way in whole.items() if way]
    lags = ", ".join(f"{name} {steps:+.0f} steps" for name, steps in found.lags.items())
    return lines + ([f"lags, half-way to half-way: {lags}"] if lags else [])


def _words(way: Transition) -> str:
    return f"{way.before:.2f} to {way.after:.2f}, t10 {way.t10:.0f}, t50 {way.t50:.0f}, t90 {way.t90:.0f}"


def _way(x: Floats, y: Floats, before: float, after: float) -> Transition:
    t10, t50, t90 = (_crossing(x, (y - before) / (after - before), part) for part in (0.1, 0.5, 0.9))
    return Transition(before, after, t10, t50, t90)


def _crossing(x: Floats, gone: Floats, part: float) -> float:
    """Where a curve first has gone so much of its way, between two points on a straight line; else its end."""
    beyond = np.flatnonzero(gone >= part)
    if not len(beyond):
        return float(x[-1])
    i = beyond[0]
    if i == 0:
        return float(x[0])
    return float(x[i - 1] + (x[i] - x[i - 1]) * (part - gone[i - 1]) / (gone[i] - gone[i - 1]))


def _arrays(steps: Values, values: Values) -> tuple[Floats, Floats]:
    """Without the points whose value is not finite."""
    x, y = (np.array([np.nan if v is None else v for v in column], dtype=np.float64) for column in (steps, values))
    use = np.isfinite(y)
    return x[use], y[use]
