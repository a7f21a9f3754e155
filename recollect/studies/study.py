"""What a study is: a question as code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recollect.spec import RunSpec

SCALES = ("smoke", "laptop", "desk", "paper")


@dataclass(frozen=True)
class Case:
    """One run of a study and the label under which a figure shows it."""

    label: str
    spec: RunSpec


@dataclass(frozen=True)
class Study:
    """Its question, its runs at a scale, and the kind of figure that answers it."""

    name: str
    title: str
    question: str
    cases: Callable[[str], Sequence[Case]]
    figure: str
    scales: tuple[str, ...] = SCALES
