"""Accuracy and loss against step: how runs learn. First the value, then its drawing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, empty, legend_beside
from recollect.report.note import floors, note
from recollect.report.style import looks, mixer_name
from recollect.store import Record
from recollect.window import THRESHOLD
from recollect.window.select import Select, by_cell, by_label, choose, finished

Measure = Literal["accuracy", "loss"]
Values = list[float | None]
FEW = 3
"""Labels that have room inside a panel."""


@dataclass(frozen=True)
class Curve:
    """One run; None where a value was not finite."""

    label: str
    mixer: str
    seed: int
    steps: list[int]
    train: Values
    validation: Values
    train_loss: Values
    validation_loss: Values
    outcome: str


@dataclass(frozen=True)
class Dynamics:
    """What the figure shows."""

    title: str
    note: str
    curves: list[Curve]
    floors: dict[str, float]


def dynamics(labelled: Sequence[tuple[str, Record]], title: str, scale: str) -> Dynamics:
    """The curves of finished runs, with the floors of their task; records need their curves."""
    done = [(label, record) for label, record in labelled if record.result is not None]
    records = [record for _, record in done]
    return Dynamics(title, note(records, scale), [_curve(label, record) for label, record in done], floors(records))


def at_best(labelled: Sequence[tuple[str, Record]], select: Select = "validation") -> list[tuple[str, Record]]:
    """Of every label the runs of its narrowest cell that recalls, else of its widest, at the best learning rate."""
    return [(label, run) for label, records in by_label(labelled).items() for run in _best(records, select)]


def _best(records: Sequence[Record], select: Select) -> list[Record]:
    cells = sorted(by_cell(finished(records)).values(), key=lambda runs: runs[0].spec.model.d_model)
    choices = [choice for runs in cells if (choice := choose(runs, select)) is not None]
    if not choices:
        return []
    chosen = next((choice for choice in choices if choice.mean >= THRESHOLD), choices[-1])
    return [run for run in finished(records) if (run.cell, run.spec.train.lr) == (chosen.cell, chosen.lr)]


def _curve(label: str, record: Record) -> Curve:
    assert record.result is not None
    curves = record.result["curves"]
    return Curve(
        label=label,
        mixer=mixer_name(record.spec),
        seed=record.spec.seed,
        steps=[int(step) for step in curves["step"]],
        train=curves["train_accuracy"],
        validation=curves["validation_accuracy"],
        train_loss=curves["train_loss"],
        validation_loss=curves["validation_loss"],
        outcome=record.result["outcome"],
    )


def draw_dynamics(value: Dynamics, axes: Axes, measure: Measure = "accuracy") -> None:
    """Every seed is a line that ends in a dot where the run stopped; training is faint, validation solid.

    Many labels are named beside the panel.
    """
    beside = len({curve.label for curve in value.curves}) > FEW
    for label, look in looks([(curve.label, curve.mixer) for curve in value.curves]).items():
        curves = [curve for curve in value.curves if curve.label == label]
        axes.plot(*_joined(curves, "train", measure), color=look.colour, alpha=0.25, linewidth=0.8)
        x, y = _joined(curves, "validation", measure)
        axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=1.3, label=label)
        ends = [place - 1 for place, step in enumerate(x) if place and math.isnan(step)]
        last = [[values[end] for end in ends] for values in (x, y)]
        axes.plot(*last, color=look.colour, linestyle="", marker="o", markersize=3.5, clip_on=False)
    axes.set(xlabel="training step", ylabel=f"{measure} (training faint)", title=value.title)
    axes.set_xlim(left=0)
    if measure == "accuracy":
        axes.set_ylim(-0.02, 1.04)
        draw_floors(value.floors, axes, beside=beside)
    else:
        axes.set_ylim(bottom=0)
    if beside:
        legend_beside(axes)
    elif value.curves:
        axes.legend(loc="center right", bbox_to_anchor=(1, 0.55))
    else:
        empty(axes)


def _joined(
    curves: Sequence[Curve], rows: Literal["train", "validation"], measure: Measure
) -> tuple[list[float], list[float]]:
    """Steps and values of several runs as one line with gaps, which draws much faster than a line each."""
    x, y = [], []
    for curve in curves:
        values = _VALUES[rows, measure](curve)
        x += [*curve.steps, math.nan]
        y += [*(math.nan if value is None else value for value in values), math.nan]
    return x, y


_VALUES: dict[tuple[str, str], Callable[[Curve], Values]] = {
    ("train", "accuracy"): lambda curve: curve.train,
    ("validation", "accuracy"): lambda curve: curve.validation,
    ("train", "loss"): lambda curve: curve.train_loss,
    ("validation", "loss"): lambda curve: curve.validation_loss,
}
