"""What was seen inside runs: scores along training beside loss and accuracy, and what fades with distance.

First the values, then their drawing.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from recollect.inside.scores import AT_ANSWER, strongest
from recollect.report.dynamics import DYNAMICS, MEASURES, Dynamics, at_best, draw_dynamics, dynamics_of
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.style import INK, looks
from recollect.store import Record

Faded = Literal["mixing", "gradient"]


@dataclass(frozen=True)
class ScoreLine:
    """The score of a run's strongest head or channel, in any layer, and its chance."""

    label: str
    mixer: str
    steps: list[int]
    values: list[float]
    chance: float


@dataclass(frozen=True)
class FadeLine:
    """What fades with distance in a run, before training and after it; the last layer's matrix."""

    label: str
    mixer: str
    before: NDArray[np.float64]
    after: NDArray[np.float64]


@dataclass(frozen=True)
class Inside:
    """What the figure shows."""

    dynamics: Dynamics
    scores: list[ScoreLine]
    fades: dict[Faded, list[FadeLine]]


def inside(runs: Runs, title: str) -> Inside:
    """Of finished runs; those that nobody looked into have no scores."""
    seen = [(label, record) for label, record in runs.labelled if record.is_done and record.looks]
    names: dict[Faded, str] = {"mixing": "{last} fades", "gradient": "gradient"}
    return Inside(
        dynamics_of(runs, title),
        [score_line(label, record) for label, record in seen],
        {kind: [_fade(label, record, name) for label, record in seen] for kind, name in names.items()},
    )


def score_line(label: str, record: Record) -> ScoreLine:
    """What is read at the answer or right behind it, along training."""
    values = strongest(record.looks, record.spec.model.n_layers)
    chance = float(record.looks[f"0 {AT_ANSWER[0]}, chance"][next(iter(values))])
    return ScoreLine(label, record.spec.model.mixer_name, [*values], [*values.values()], chance)


def _fade(label: str, record: Record, name: str) -> FadeLine:
    found = [*record.looks[name.format(last=record.spec.model.n_layers - 1)].values()]
    return FadeLine(label, record.spec.model.mixer_name, found[0], found[-1])


def draw_scores(value: Inside, axes: Axes) -> None:
    """Every run is a line; chance is dotted."""
    shown = looks([(line.label, line.mixer) for line in value.scores])
    for line in value.scores:
        look = shown[line.label]
        axes.plot(line.steps, line.values, color=look.colour, linestyle=look.line, linewidth=1.3, marker=".", ms=3)
    if value.scores:
        axes.axhline(value.scores[0].chance, color=INK, linestyle=":", linewidth=0.8)
    axes.set(xlabel="training step", ylabel="read at the answer, best head", title=value.dynamics.title)
    axes.set_xlim(left=0)
    axes.set_ylim(-0.02, 1.04)


def draw_fades(value: Inside, kind: Faded, axes: Axes) -> None:
    """Relative to the token before; solid after training, dashed before it."""
    shown = looks([(line.label, line.mixer) for line in value.fades[kind]])
    for line in value.fades[kind]:
        for values, style in ((line.before, "--"), (line.after, "-")):
            size = np.where(values > 0, values, np.nan) / (values[1] if values[1] > 0 else 1)
            axes.plot(size[1:], color=shown[line.label].colour, linestyle=style, linewidth=1.0)
    what = "|M| at a distance" if kind == "mixing" else "gradient of the loss, distance to the query"
    axes.set(xlabel="tokens between (dashed: before training)", ylabel=what, title=value.dynamics.title, yscale="log")


def with_scores(value: Inside) -> list[Panel]:
    """Accuracy, loss and, where somebody looked inside, scores: one under the other, over the same steps."""
    panels = [Panel(partial(draw_dynamics, value.dynamics, measure=measure), measure) for measure in MEASURES]
    return panels + ([Panel(partial(draw_scores, value), "scores")] if value.scores else [])


def all_panels(value: Inside) -> list[Panel]:
    """The same, and what fades."""
    fades = [Panel(partial(draw_fades, value, kind), kind) for kind, lines in value.fades.items() if lines]
    return [*with_scores(value), *fades]


LOSS = FigureKind(
    "loss",
    value=lambda runs, title: inside(runs.some(at_best(runs.labelled, runs.select)), title),
    panels=with_scores,
    charts=DYNAMICS.charts,
    chooses=True,
    crosses=True,
    across=1,
    parts=(*MEASURES, "scores"),
)
INSIDE = replace(LOSS, name="inside", panels=all_panels, parts=(*LOSS.parts, *get_args(Faded)))
