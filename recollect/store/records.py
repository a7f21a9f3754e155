"""What the store hands out: records of runs, lines of a list, tallies of studies."""

import json
import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.errors import plain
from recollect.spec import RunSpec

DONE = "done"
STATUSES = ("pending", "running", DONE, "failed", "lost")
ID = re.compile("[0-9a-f]{12}")
Curves = dict[str, list[float | None]]
Looks = Mapping[str, Mapping[int, NDArray[np.float64]]]
"""Name -> step -> what was seen inside the model then: a number is an array without axes."""

Tells = Literal["", "window", "accuracy"]
"""What a run tells of in a study: of everything; of the window alone, as a search chose it; of the accuracy alone, as
it is one of the seeds at the rate that a search found best."""
ALL: Tells = ""
WINDOW: Tells = "window"
ACCURACY: Tells = "accuracy"
PARTIAL = (WINDOW, ACCURACY)


@dataclass(frozen=True)
class Record:
    """What the store knows of one run; `first_loss` is the first validation loss, before any step."""

    id: str
    cell: str
    spec: RunSpec
    status: str
    outcome: str | None
    attempt: int
    result: dict[str, Any] | None
    error: str | None
    provenance: dict[str, Any]
    seconds: float | None
    first_loss: float | None = None
    looks: Looks = field(default_factory=dict, repr=False, compare=False)
    tells: Tells = ALL  # in the study that it was asked for in; a run of many studies that disagree tells of all

    @property
    def is_done(self) -> bool:
        """Whether it came to its end and has a result; a diverged run has one."""
        return self.status == DONE and self.result is not None

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        head = {"id": self.id, "cell": self.cell, "spec": self.spec.model_dump(mode="json"), "status": self.status}
        tail = {"seconds": self.seconds, "error": self.error, "provenance": self.provenance}
        return head | (self.result or {"outcome": self.outcome}) | tail


@dataclass(frozen=True)
class Tally:
    """How many runs of a study are in one state."""

    study: str
    scale: str
    status: str
    outcome: str
    runs: int


class Line(NamedTuple):
    """A run in few words, read without checking its spec: what a list of many runs shows."""

    run: str
    task: str
    mixer: str
    layers: int
    d: int
    lr: float
    seed: int
    status: str
    outcome: str
    test: float | None


Kinds = dict[str, tuple[type, ...]]
NUMBER = (int, float, type(None))
COLUMNS: Kinds = dict.fromkeys(("id", "cell", "spec", "status"), (str,)) | {"attempt": (int,), "seconds": NUMBER}
COLUMNS |= dict.fromkeys(("outcome", "result", "error", "provenance"), (str, type(None)))
RESULT: Kinds = dict.fromkeys(("validation_accuracy", "test_accuracy"), (int, float)) | {"validation_loss": NUMBER}
RESULT |= {"outcome": (str,), "steps": (int,), "floors": (dict,), "n_params": (int,), "state_size": (int, type(None))}


def check_row(row: sqlite3.Row) -> None:
    """Refuse a row whose columns hold what no run has written."""
    for name, kinds in COLUMNS.items():
        if not isinstance(row[name], kinds):
            raise TypeError(f"{name} is {row[name]!r:.40}")
    if not math.isfinite(row["seconds"] or 0.0) or (row["status"] == DONE and row["seconds"] is None):
        raise ValueError(f"seconds is {row['seconds']!r}")


def read_object(text: str | None) -> dict[str, Any]:
    """A JSON object, whose numbers are finite; nothing is an empty one."""
    found = json.loads(text or "{}")
    if not isinstance(found, dict):
        raise TypeError(f"not a JSON object: {found!r:.40}")
    json.dumps(found, allow_nan=False)
    return found


def check_result(result: dict[str, Any]) -> None:
    """Refuse the result of a finished run that lacks what everybody looks at."""
    for name, kinds in RESULT.items():
        if not isinstance(result.get(name, ...), kinds):
            raise TypeError(f"{name} of its result is {result.get(name, 'missing')!r:.40}")
    for name, level in result["floors"].items():
        if not isinstance(level, int | float):
            raise TypeError(f"its floor {name!r:.40} is {level!r:.40}")


def as_line(row: sqlite3.Row) -> Line:
    """A row as a line; its spec is only looked into."""
    spec, test = json.loads(row["spec"]), json.loads(row["result"] or "{}").get("test_accuracy")
    model, mixers, lr, seed = spec["model"], spec["model"]["mixer"], spec["train"]["lr"], spec["seed"]
    if not (lr > 0 and math.isfinite(lr) and seed >= 0):
        raise ValueError(f"train.lr {lr}, seed {seed}")
    names = dict.fromkeys(mixer["name"] for mixer in (mixers if isinstance(mixers, list) else [mixers]))
    sizes = "+".join(names), model["n_layers"], model["d_model"]
    return Line(row["id"], spec["task"]["name"], *sizes, lr, seed, row["status"], row["outcome"] or "", test)


class Specs:
    """Reads specs; the runs of one cell share all they have in common, so that many runs take little memory."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, Any], RunSpec]] = {}

    def read(self, cell: str, text: str) -> RunSpec:
        """A spec from its JSON, checked whole, or against one of its cell."""
        fields = json.loads(text)
        try:
            lr, seed = fields["train"].pop("lr"), fields.pop("seed")
        except (KeyError, TypeError, AttributeError):
            return RunSpec.model_validate_json(text)  # which says what is missing
        shared, spec = self._known.get(cell, ({}, None))
        if spec is not None and shared == fields:
            return spec.at(lr, seed)
        spec = RunSpec.model_validate_json(text)
        self._known[cell] = fields, spec
        return spec


def as_record(row: sqlite3.Row, specs: Specs, curves: Curves | None) -> Record:
    """A row as a record, checked; curves are handed over where they are wanted."""
    check_row(row)
    result = read_object(row["result"]) if row["result"] else None
    if row["status"] == DONE:
        check_result(result or {})
    if curves is not None and result is not None:
        result["curves"] = curves
    return Record(
        id=row["id"],
        cell=row["cell"],
        spec=specs.read(row["cell"], row["spec"]),
        status=row["status"],
        outcome=row["outcome"] and plain(row["outcome"]),
        attempt=row["attempt"],
        result=result,
        error=row["error"] and plain(row["error"]),
        provenance=read_object(row["provenance"]),
        seconds=row["seconds"],
        first_loss=row["first_loss"],
    )


def as_curves(points: Sequence[tuple[str, int, str, float | None]]) -> Curves:
    """Points of one run, ordered by step -> lists of equal length."""
    steps = list(dict.fromkeys(step for _, step, _, _ in points))
    place = {step: i for i, step in enumerate(steps)}
    out: Curves = {"step": list(steps)}
    for _, step, name, value in points:
        if name not in out:
            out[name] = [None] * len(steps)
        out[name][place[step]] = value
    return out
