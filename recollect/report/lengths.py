"""Accuracy against string length: does copying go on beyond the lengths that were trained on?"""

from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from recollect.report.axes import draw_floors, legend
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.note import floors
from recollect.report.style import INK, Look
from recollect.store import Record
from recollect.window.select import Labelled


@dataclass(frozen=True)
class LengthCurve:
    """One run: the share of whole strings and of single characters that are right, at each length."""

    label: str
    look: Look
    seed: int
    lengths: list[int]
    strings: list[float]
    characters: list[float]


@dataclass(frozen=True)
class Lengths:
    """What the figure shows; `trained` is the range of lengths in training, None where the runs differ in it."""

    title: str
    note: str
    curves: list[LengthCurve]
    trained: tuple[int, int] | None
    floors: dict[str, float]


def lengths(labelled: Labelled, title: str, scale: str) -> Lengths:
    """The curves of finished runs that were judged on lengths."""
    return _value(Runs.of([pair for pair in labelled if judged(pair[1])], scale), title)


def _value(runs: Runs, title: str) -> Lengths:
    done = [(label, record) for label, record in runs.labelled if judged(record)]
    tasks = [record.spec.task.model_dump() for _, record in done]
    ranges = {(task["min_length"], task["max_length"]) for task in tasks}
    trained = ranges.pop() if len(ranges) == 1 else None
    styles = runs.looks
    curves = [_curve(label, styles[label], record) for label, record in done]
    return Lengths(title, runs.note, curves, trained, floors([record for _, record in done]))


def judged(record: Record) -> dict[int, dict[str, float]]:
    """String length -> scores, shortest first; empty where there are none."""
    found = (record.result or {}).get("evaluations", {})
    by_length = {int(name.removeprefix("length=")): found[name] for name in found if name.startswith("length=")}
    return dict(sorted(by_length.items()))


def _curve(label: str, look: Look, record: Record) -> LengthCurve:
    scores = judged(record)
    strings = [score["accuracy"] for score in scores.values()]
    characters = [score["character_accuracy"] for score in scores.values()]
    return LengthCurve(label, look, record.spec.seed, list(scores), strings, characters)


def draw_lengths(value: Lengths, axes: Axes) -> None:
    """Every seed is a line: strings solid, characters faint; the lengths of training are shaded."""
    for curve in value.curves:
        hue, marker, line = curve.look.colour, curve.look.marker, curve.look.line
        axes.plot(curve.lengths, curve.characters, color=hue, alpha=0.3, linewidth=0.8)
        axes.plot(curve.lengths, curve.strings, color=hue, linestyle=line, marker=marker)
    for label, look in {curve.label: curve.look for curve in value.curves}.items():
        axes.plot([], [], color=look.colour, linestyle=look.line, marker=look.marker, label=label)
    axes.set(xlabel="letters in the string", ylabel="strings right (characters faint)", title=value.title)
    axes.set_ylim(-0.07, 1.1)
    draw_floors(value.floors, axes)
    if value.trained is not None:
        axes.axvspan(*value.trained, color=INK, alpha=0.1, linewidth=0, zorder=0)
        axes.annotate(
            "trained on", (value.trained[0], 1.04), xytext=(2, 0), textcoords="offset points", fontsize="small"
        )
    if value.curves:
        ticks = sorted({length for curve in value.curves for length in curve.lengths})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.minorticks_off()
    legend(value.curves, axes)


LENGTHS = FigureKind(
    "lengths",
    value=_value,
    panels=lambda value: [Panel(partial(draw_lengths, value))],
    charts=lambda page: [page.lr(), page.bands()],
    crosses=True,
)
