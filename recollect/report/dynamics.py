"""Accuracy against step: how runs learn. First the value, then its drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from recollect.report.style import INK, colour
from recollect.store import Record


@dataclass(frozen=True)
class Curve:
    """One run: validation solid, training faint."""

    label: str
    seed: int
    steps: list[int]
    train: list[float | None]
    validation: list[float | None]
    outcome: str


@dataclass(frozen=True)
class Dynamics:
    """What the figure shows."""

    title: str
    note: str
    curves: list[Curve]
    floors: dict[str, float]


def dynamics(labelled: Sequence[tuple[str, Record]], title: str, scale: str) -> Dynamics:
    """The curves of finished runs, with the floors of their task."""
    done = [(label, record) for label, record in labelled if record.result is not None]
    curves = [_curve(label, record) for label, record in done]
    floors = {} if not done or done[0][1].result is None else done[0][1].result["floors"]
    return Dynamics(title, note([record for _, record in done], scale), curves, floors)


def note(records: Sequence[Record], scale: str) -> str:
    """The small print: task, learning rates, budget, seeds, scale."""
    if not records:
        return f"no finished run at scale {scale}"
    spec = records[0].spec
    lrs = sorted({record.spec.train.lr for record in records})
    rate = f"lr {lrs[0]:g}" if len(lrs) == 1 else f"lr {lrs[0]:g} to {lrs[-1]:g}"
    seeds = len({record.spec.seed for record in records})
    budget = f"budget {spec.train.steps} steps; {seeds} seed{'s' * (seeds != 1)}"
    return f"{spec.task.short()}, d={spec.model.d_model}; {rate}; {budget}; scale {scale}"


def _curve(label: str, record: Record) -> Curve:
    assert record.result is not None
    curves = record.result["curves"]
    steps = [int(step) for step in curves["step"]]
    train, validation = curves["train_accuracy"], curves["validation_accuracy"]
    return Curve(label, record.spec.seed, steps, train, validation, record.result["outcome"])


def draw_dynamics(value: Dynamics, axes: Axes) -> None:
    """Every seed is a line that ends in a dot where the run stopped; floors are dashed."""
    labels = list(dict.fromkeys(curve.label for curve in value.curves))
    for curve in value.curves:
        hue = colour(labels.index(curve.label))
        axes.plot(curve.steps, _numbers(curve.train), color=hue, alpha=0.25, linewidth=0.8)
        axes.plot(curve.steps, _numbers(curve.validation), color=hue, linewidth=1.3)
        axes.plot(
            curve.steps[-1:], _numbers(curve.validation[-1:]), color=hue, marker="o", markersize=3.5, clip_on=False
        )
    for i, label in enumerate(labels):
        axes.plot([], [], color=colour(i), linewidth=1.6, label=label)
    for i, (name, level) in enumerate(value.floors.items()):
        axes.axhline(level, color=INK, linewidth=0.8, linestyle=(0, (4, 2)) if i else (0, (1, 2)), zorder=0)
        axes.annotate(
            f"{name} ({level:.0%})",
            (1, level),
            xycoords=("axes fraction", "data"),
            xytext=(-2, -2),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=6.5,
            color=INK,
        )
    axes.set(xlabel="training step", ylabel="accuracy (training faint)", ylim=(-0.02, 1.04), title=value.title)
    axes.set_xlim(left=0)
    if labels:
        axes.legend(loc="center right", bbox_to_anchor=(1, 0.55))


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
