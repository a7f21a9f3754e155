"""The small print of every figure: task, sizes, learning rates, budget, seeds, scale."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from recollect.spec import RunSpec
from recollect.store import WINDOW, Record
from recollect.window.select import Select, finished, how_chosen


def note(records: Sequence[Record], scale: str, select: Select = "validation") -> str:
    """What the finished runs share, or the span of it; and how learning rates were chosen, if not by the rule."""
    done = finished(records)
    at = f" at scale {scale}" if scale else ""
    if not done:
        return f"no finished run{at}"
    specs = [record.spec for record in done]
    tasks = list(dict.fromkeys(spec.task.short() for spec in specs))
    task = tasks[0] if len(tasks) == 1 else f"{tasks[0]} and {len(tasks) - 1} more"
    parts = [
        f"{task}{halves(specs)}, d={span(spec.model.d_model for spec in specs)}",
        f"lr {span(spec.train.lr for spec in specs)}",
        f"budget {span(spec.train.steps for spec in specs)} steps",
        seeds(done),
        f"scale {scale}" if scale else "",
        how_chosen(select, records),
        "with a mixer that looks ahead" if any(spec.model.noncausal for spec in specs) else "",
    ]
    return "; ".join(filter(None, parts))


def seeds(records: Sequence[Record]) -> str:
    """How many seeds there are at each learning rate of each cell; by search, how many runs, and seeds at the best."""
    searched = Counter(record.cell for record in records if record.tells == WINDOW)
    if searched:
        added = [record for record in records if record.tells != WINDOW]
        after = f", then {seeds(added)} at the best" if added else ""
        return f"windows by search, {span(searched.values())} runs each{after}"
    counts = Counter((record.cell, record.spec.train.lr) for record in records).values()
    most = max(counts)
    few = "" if min(counts) == most else f"{min(counts)} to "
    return f"{few}{most} seed{'s' * (most != 1)}"


def halves(specs: Sequence[RunSpec]) -> str:
    """Said where all keys come from one half of the vocabulary and all values from the other: it decides who learns."""
    return ", vocabulary split" if {getattr(spec.task, "vocabulary", None) for spec in specs} == {"split"} else ""


def span(values: Iterable[float]) -> str:
    """`64`, or `64 to 256`; whole numbers in full, others to four digits."""
    found = sorted(set(values))
    ends = [f"{value}" if isinstance(value, int) else f"{value:.4g}" for value in (found[0], found[-1])]
    return " to ".join(dict.fromkeys(ends))


def wrapped(text: str, inches: float) -> str:
    """Small print that fits under a figure of this width."""
    return textwrap.fill(text, int(inches * 19))


def titled(text: str, inches: float) -> str:
    """A title that fits above a figure of this width, or above one of its panels."""
    return textwrap.fill(text, int(inches * 13))


def floors(records: Sequence[Record]) -> dict[str, float]:
    """The floors that all finished runs share, by name; those of different tasks are left out."""
    first, *others = [(record.result or {})["floors"] for record in finished(records)] or [{}]
    return {name: level for name, level in first.items() if all(other.get(name) == level for other in others)}
