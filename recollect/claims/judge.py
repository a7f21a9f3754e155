"""The tests that claims are made of. Each turns evidence into a finding by bounds that its caller states."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import Literal

from recollect.claims.claim import Finding, Test, Word
from recollect.claims.evidence import Cell, Evidence, Sizes
from recollect.studies.models import HYENA, MAMBA
from recollect.window import surely_wider
from recollect.window.measure import NOT_ONE, PERHAPS
from recollect.window.select import accuracy, by_lr, for_accuracy

Axis = Literal["width", "depth"]
RECURRENT = (MAMBA, HYENA)
SURE = 0.95
SOLVES, FAILS = 0.9, 0.5
NEAR, APART = 0.05, 0.2
WIDER = (
    "each other model needs a window somewhere that is sure (P >= 0.9) and 90 % at its best rate; where it has one: "
    "supported if P(wider) >= 0.95 against every other, contradicted if <= 0.05 against one, whatever lies beyond the "
    "range; a window in which over a quarter of the seeds fail is at most as wide as it seems"
)
"""The rule of `wider_than`."""


def decide(supported: bool, contradicted: bool) -> Word:
    """`open` where neither bound is met."""
    return "supported" if supported else "contradicted" if contradicted else "open"


def cells(evidence: Evidence, labels: Sequence[str]) -> Iterator[tuple[str, Sizes, Cell]]:
    """Every cell of these models."""
    for label in labels:
        for place, cell in evidence.of(label).items():
            yield label, place, cell


def named(evidence: Evidence, labels: Sequence[str]) -> list[tuple[str, Cell]]:
    """The same with a name each, for `show`."""
    return [(evidence.name(label, place), cell) for label, place, cell in cells(evidence, labels)]


def along(evidence: Evidence, label: str, axis: Axis) -> list[list[Cell]]:
    """The cells of a model along its width or its depth, all else equal; smallest first."""
    groups: dict[tuple[str, int], list[tuple[int, Cell]]] = {}
    for place, cell in evidence.of(label).items():
        size, other = (place.d_model, place.n_layers)[:: 1 if axis == "width" else -1]
        groups.setdefault((place.task, other), []).append((size, cell))
    return [[cell for _, cell in sorted(found, key=lambda item: item[0])] for found in groups.values()]


def show(found: Sequence[tuple[str, Cell]]) -> str:
    """Names with test accuracy: mean and range over the seeds."""
    return "; ".join(f"{name} {spread(cell)}" for name, cell in found)


def spread(cell: Cell) -> str:
    """Mean, least and greatest test accuracy at the chosen learning rate."""
    choice = cell.choice
    low, high = min(choice.accuracies), max(choice.accuracies)
    return f"{choice.mean:.1%} ({low:.1%} to {high:.1%}, n={len(choice.seeds)}, lr {choice.lr:.3g})"


def on_means(labels: tuple[str, ...], word: Callable[[list[float]], Word]) -> Test:
    """What the mean accuracies of all cells of these models come to."""

    def find(evidence: Evidence) -> Finding:
        found = named(evidence, labels)
        return Finding(word([cell.choice.mean for _, cell in found]), show(found))

    return Test(labels, find)


def at_least(*labels: str, bar: float = SOLVES, below: float = FAILS) -> Test:
    """Supported where every cell's mean reaches the bar; contradicted where one stays below the other."""
    return on_means(labels, lambda means: decide(min(means) >= bar, min(means) < below))


def at_most(*labels: str) -> Test:
    """Supported where every cell fails, no seed recalls, no better rate lies ahead; contradicted where one recalls."""

    def find(evidence: Evidence) -> Finding:
        found = named(evidence, labels)
        ahead = [name for name, cell in found if is_rising(cell, FAILS)]
        most = max(cell.choice.mean for _, cell in found)
        luckiest = max(max(cell.choice.accuracies) for _, cell in found)
        numbers = show(found) + f"; still rising where the rates end: {', '.join(ahead)}" * bool(ahead)
        return Finding(decide(most < FAILS and luckiest < SOLVES and not ahead, most >= SOLVES), numbers)

    return Test(labels, find)


def at_best(*labels: str) -> Test:
    """Supported where one cell recalls; contradicted where all fail."""
    return on_means(labels, lambda means: decide(max(means) >= SOLVES, max(means) < FAILS))


def both(*tests: Test) -> Test:
    """Supported where all are; contradicted where one is."""

    def find(evidence: Evidence) -> Finding:
        found = [one.find(evidence) for one in tests]
        words = [finding.word for finding in found]
        word = decide(set(words) == {"supported"}, "contradicted" in words)
        return Finding(word, "; ".join(finding.numbers for finding in found))

    return Test(tuple(label for one in tests for label in one.labels), find)


def with_control(test: Test, *labels: str) -> Test:
    """Supported only where each of these models recalls somewhere: the budget suffices, and failing means something.

    What contradicts, contradicts.
    """

    def find(evidence: Evidence) -> Finding:
        found, controls = test.find(evidence), {label: best_mean(evidence, label) for label in labels}
        word = "open" if found.word == "supported" and min(controls.values()) < SOLVES else found.word
        shown = ", ".join(f"{label} at best {mean:.1%}" for label, mean in controls.items())
        return Finding(word, f"{found.numbers}; control: {shown}")

    return Test((*test.labels, *(label for label in labels if label not in test.labels)), find)


def is_rising(cell: Cell, to: float) -> bool:
    """Whether its best rate is the first or last tried, and one more step like the last would bring it there."""
    rates = by_lr(for_accuracy(cell.records))
    means = [fmean(accuracy(run) for run in runs) for runs in rates.values()]
    at = list(rates).index(cell.choice.lr)
    beside = {0: 1, len(means) - 1: len(means) - 2}.get(at)
    return beside is not None and len(means) > 1 and 2 * means[at] - means[beside] >= to


def best_mean(evidence: Evidence, label: str) -> float:
    """The best mean accuracy of a model's cells."""
    return max(cell.choice.mean for cell in evidence.of(label).values())


def above_floor(cell: Cell) -> float:
    """What a cell recalls beyond the best guess from positions alone."""
    return max(0.0, cell.choice.mean - cell.floor("position only"))


def facing(evidence: Evidence, first: str, others: Sequence[str]) -> list[tuple[str, Cell, Cell]]:
    """Every cell of the others, named, with the first model's cell at the same task and width, whatever the depth."""
    return [
        (evidence.name(label, place), mine, cell)
        for label, place, cell in cells(evidence, others)
        for one, mine in evidence.of(first).items()
        if one[:3] == place[:3]
    ]


def wider_than(first: str, *others: str) -> Test:
    """Supported where the first model's window is surely wider than each other's wherever that one surely has one, and
    each has one somewhere; contradicted where it is surely narrower than one."""

    def find(evidence: Evidence) -> Finding:
        listed = [
            f"{evidence.name(label, place)}: {width(cell)}" for label, place, cell in cells(evidence, (first, *others))
        ]
        bounds: list[tuple[float, float]] = []
        missing: list[str] = []
        for label in others:
            faced = [pair for pair in facing(evidence, first, (label,)) if has_window(pair[2])]
            missing += [] if faced else [label]
            for name, mine, cell in faced:
                bounds.append(surely_wider(mine.window, cell.window))
                listed.append(f"P(wider than {name}) {between(*bounds[-1])}")
        listed += [f"{label} has no sure window, so none that is narrow" for label in missing]
        supported = not missing and all(least >= SURE for least, _ in bounds)
        return Finding(decide(supported, any(most <= 1 - SURE for _, most in bounds)), "; ".join(listed))

    return Test((first, *others), find)


def has_window(cell: Cell) -> bool:
    """Whether there surely is one, and the seeds at its best rate recall: one lucky run makes no window."""
    return cell.window.width is not None and PERHAPS not in cell.window.flags and cell.choice.mean >= SOLVES


def between(low: float, high: float) -> str:
    """A probability, or the bounds that the range leaves for it."""
    return (
        f"= {low:.2f}"
        if low == high
        else f"between {low:.2f} and {high:.2f}: a window is open, or seeds fail inside one"
    )


def width(cell: Cell) -> str:
    """A window in a few words."""
    found = cell.window
    if found.width is None:
        return "no window"
    hole = f", of which {found.failing:.2f} fail: {NOT_ONE}" if found.holes else ""
    return f"window {found.width.value:.2f} decades ({found.width.interval()}){hole}"


def alike(first: str, *others: str, called: str = "") -> Test:
    """Supported where all means are near the first model's, in short `called`; contradicted where one is far."""

    def find(evidence: Evidence) -> Finding:
        pairs = facing(evidence, first, others)
        gaps = [abs(mine.choice.mean - other.choice.mean) for _, mine, other in pairs]
        return Finding(decide(max(gaps) <= NEAR, max(gaps) >= APART), show_pairs(called or first, pairs))

    return Test((first, *others), find)


def show_pairs(first: str, pairs: Sequence[tuple[str, Cell, Cell]]) -> str:
    """Each cell beside the first model's that it faces."""
    return "; ".join(f"{name} {spread(other)} against {first} {spread(mine)}" for name, mine, other in pairs)
