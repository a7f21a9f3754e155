"""What was seen inside runs: scores along training beside loss and accuracy, and what fades with distance.

First the values, then their drawing.
"""

from collections.abc import Sequence
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
When = Literal["before", "after"]


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


def draw_fades(value: Inside, kind: Faded, when: When, axes: Axes) -> None:
    """A line a model, the median of its runs, relative to the nearest token; before and after share their scale."""
    lines = value.fades[kind]
    shown = looks([(line.label, line.mixer) for line in lines])
    medians = {moment: median_fades(lines, moment) for moment in get_args(When)}
    for label, values in medians[when].items():
        axes.plot(values, color=shown[label].colour, linestyle=shown[label].line, linewidth=1.2)
    everything = np.concatenate([values for found in medians.values() for values in found.values()])
    axes.set(
        xlabel="tokens between" if kind == "mixing" else "tokens between it and the query",
        ylabel="|M|" if kind == "mixing" else "gradient of the loss",
        title=", ".join(filter(None, (value.dynamics.title, f"{when} training"))),
        yscale="log",
        ylim=(np.nanmin(everything) / 1.5, np.nanmax(everything) * 1.5),
    )


def median_fades(lines: Sequence[FadeLine], when: When) -> dict[str, NDArray[np.float64]]:
    """Label -> the median over its runs at every distance, each relative to the nearest token; nan where nothing is."""
    found: dict[str, list[NDArray[np.float64]]] = {}
    for line in lines:
        values = line.before if when == "before" else line.after
        sized = np.where(values > 0, values, np.nan) / (values[1] if values[1] > 0 else 1)
        found.setdefault(line.label, []).append(sized[1:])
    return {label: np.median(runs, axis=0) for label, runs in found.items()}


def with_scores(value: Inside) -> list[Panel]:
    """Accuracy, loss and, where somebody looked inside, scores: one under the other, over the same steps."""
    panels = [Panel(partial(draw_dynamics, value.dynamics, measure=measure), measure) for measure in MEASURES]
    return panels + ([Panel(partial(draw_scores, value), "scores")] if value.scores else [])


def all_panels(value: Inside) -> list[Panel]:
    """The same, and what fades."""
    fades = [
        Panel(partial(draw_fades, value, kind, when), kind)
        for kind, lines in value.fades.items()
        if lines
        for when in get_args(When)
    ]
    return [*(replace(panel, is_wide=True) for panel in with_scores(value)), *fades]


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
INSIDE = replace(LOSS, name="inside", panels=all_panels, across=2, parts=(*LOSS.parts, *get_args(Faded)))
