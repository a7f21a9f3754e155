"""Accuracy and loss against step: how runs learn. First the value, then its drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, legend
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import Look
from recollect.store import Record
from recollect.window.select import Labelled, Select, by_label, narrowest

Learned = Literal["accuracy", "loss"]
MEASURES: tuple[Learned, ...] = ("accuracy", "loss")
Values = list[float | None]


@dataclass(frozen=True)
class LearningCurve:
    """One run; None where a value was not finite."""

    label: str
    look: Look
    seed: int
    steps: list[int]
    train: Values
    validation: Values
    train_loss: Values
    validation_loss: Values
    outcome: str

    def values(self, measure: Learned) -> tuple[Values, Values]:
        """On training and on validation rows."""
        return (self.train, self.validation) if measure == "accuracy" else (self.train_loss, self.validation_loss)


@dataclass(frozen=True)
class Dynamics:
    """What the figure shows."""

    title: str
    note: str
    curves: list[LearningCurve]
    floors: dict[str, float]


def dynamics(labelled: Labelled, title: str, scale: str) -> Dynamics:
    """The curves of finished runs, with the floors of their task; records need their curves."""
    return dynamics_of(Runs.of(labelled, scale), title)


def dynamics_of(runs: Runs, title: str) -> Dynamics:
    """The same of runs that a figure has."""
    styles = runs.looks
    curves = [_curve(label, styles[label], record) for label, record in runs.labelled if record.is_done]
    return Dynamics(title, runs.note, curves, floors(runs.records))


def at_best(labelled: Labelled, select: Select = "validation") -> list[tuple[str, Record]]:
    """Of every label the runs of its narrowest cell that recalls, else of its widest, at the best learning rate."""
    return [(label, run) for label, records in by_label(labelled).items() for run in narrowest(records, select)]


def _curve(label: str, look: Look, record: Record) -> LearningCurve:
    assert record.result is not None
    curves = record.result["curves"]
    return LearningCurve(
        label=label,
        look=look,
        seed=record.spec.seed,
        steps=[int(step) for step in curves["step"]],
        train=curves["train_accuracy"],
        validation=curves["validation_accuracy"],
        train_loss=curves["train_loss"],
        validation_loss=curves["validation_loss"],
        outcome=record.result["outcome"],
    )


def draw_dynamics(value: Dynamics, axes: Axes, measure: Learned = "accuracy") -> None:
    """Every seed is a line that ends in a mark where the run stopped; training is faint, validation solid."""
    for label, look in {curve.label: curve.look for curve in value.curves}.items():
        curves = [curve for curve in value.curves if curve.label == label]
        train, validation = zip(*(curve.values(measure) for curve in curves), strict=True)
        axes.plot(*_joined(curves, train), color=look.colour, alpha=0.25, linewidth=0.8)
        x, y = _joined(curves, validation)
        axes.plot(x, y, color=look.colour, linestyle=look.line)
        axes.plot([], [], color=look.colour, linestyle=look.line, marker=look.marker, label=label)
        ends = [place - 1 for place, step in enumerate(x) if place and math.isnan(step)]
        last = [[values[end] for end in ends] for values in (x, y)]
        axes.plot(*last, color=look.colour, linestyle="", marker=look.marker, clip_on=False)
    axes.set(xlabel="training step", ylabel=f"{measure} (training faint)", title=value.title)
    axes.set_xlim(left=0)
    if measure == "accuracy":
        axes.set_ylim(-0.02, 1.04)
        draw_floors(value.floors, axes)
    else:
        axes.set_ylim(bottom=0)
    legend(value.curves, axes)


def _joined(curves: Sequence[LearningCurve], values: Sequence[Values]) -> tuple[list[float], list[float]]:
    """Steps and values of several runs as one line with gaps, which draws much faster than a line each."""
    x = [step for curve in curves for step in (*curve.steps, math.nan)]
    return x, [math.nan if value is None else value for one in values for value in (*one, None)]


DYNAMICS = FigureKind(
    "dynamics",
    value=lambda runs, title: dynamics_of(runs.some(at_best(runs.labelled, runs.select)), title),
    panels=lambda value: [Panel(partial(draw_dynamics, value))],
    charts=lambda page: [page.dynamics("accuracy"), page.dynamics("loss")],
    chooses=True,
    crosses=True,
)
