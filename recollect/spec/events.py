"""What a run says while it goes on: plain values that pass through a pipe as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from recollect.spec.run import RunSpec


@dataclass(frozen=True)
class Started:
    """The run began, or went on from `step`; `notice` is a sentence for the user, where there is one.

    Listeners find the spec in it; the coordinator adds it, who trains a run knows it anyway.
    """

    run: str
    step: int
    steps: int
    provenance: dict[str, Any]
    notice: str = ""
    spec: RunSpec | None = None


@dataclass(frozen=True)
class Point:
    """Values measured at a step."""

    run: str
    step: int
    values: dict[str, float | None]


@dataclass(frozen=True)
class Progressed:
    """A sign of life between two points, with the training's loss and accuracy since the last one where known."""

    run: str
    step: int
    values: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Looked:
    """What was seen inside the model at a step: numbers, and curves and matrices as nested lists."""

    run: str
    step: int
    values: dict[str, Any]


@dataclass(frozen=True)
class Done:
    """The run ended; `result` depends on the spec alone, `seconds` on the machine."""

    run: str
    result: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class Failed:
    """The run raised."""

    run: str
    error: str


@dataclass(frozen=True)
class Lost:
    """Whoever trained the run is gone: a process that was killed, a node that died. The run itself did not raise."""

    run: str
    reason: str


Event = Started | Point | Progressed | Looked | Done | Failed | Lost
KINDS: dict[str, type[Event]] = {
    kind.__name__: kind for kind in (Started, Point, Progressed, Looked, Done, Failed, Lost)
}


def to_plain(event: Event) -> dict[str, Any]:
    """As JSON data, with its kind."""
    return {"kind": type(event).__name__, **asdict(event)}


def from_plain(plain: dict[str, Any]) -> Event:
    """Back from JSON data."""
    fields = {key: value for key, value in plain.items() if key != "kind"}
    return KINDS[plain["kind"]](**fields)
