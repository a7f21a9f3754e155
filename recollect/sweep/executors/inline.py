"""Runs jobs in this process, one after the other: for single runs, debuggers and tests."""

from collections import deque
from collections.abc import Iterator

from recollect.spec.events import Event
from recollect.sweep.executors.executor import Executor
from recollect.sweep.executors.job import Job, perform


class Inline(Executor):
    """No other process; a job starts when its events are asked for."""

    slots = 1

    def __init__(self, checkpoint_seconds: float | None = None) -> None:
        self.checkpoint_seconds = checkpoint_seconds
        self.waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def events(self) -> Iterator[Event]:
        if self.waiting:
            yield from perform(self.waiting.popleft(), self.checkpoint_seconds)

    def close(self) -> None:
        self.waiting.clear()
