"""Planners are pure: from what is finished and what is under way to what comes next."""

from collections.abc import Sequence
from typing import Protocol

from recollect.spec import RunSpec
from recollect.store import Record


class Planner(Protocol):
    """Pure: from what is finished and what is under way to what comes next."""

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        """The next runs, most wanted first; empty when there is nothing to add."""
        ...


class Grid:
    """The simplest planner: a fixed list."""

    def __init__(self, specs: Sequence[RunSpec]) -> None:
        self.specs = {spec.id: spec for spec in specs}

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        known = {record.id for record in finished} | {spec.id for spec in under_way}
        return [spec for run, spec in self.specs.items() if run not in known]
