"""Runs jobs in this process, one after the other: for single runs, debuggers and tests."""

from collections import deque
from collections.abc import Iterator

from recollect.spec.events import Event
from recollect.sweep.executors.executor import Executor
from recollect.sweep.executors.job import Job, perform


class Inline(Executor):
    """No other process; a job starts when its events are asked for."""

    slots = 1

    def __init__(self, checkpoint_seconds: float = 5.0) -> None:
        self.checkpoint_seconds = checkpoint_seconds
        self.waiting: deque[Job] = deque()
        self.cancelled = ""

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def events(self) -> Iterator[Event]:
        if not self.waiting:
            return
        job, self.cancelled = self.waiting.popleft(), ""
        for event in perform(job, self.checkpoint_seconds):
            yield event
            if self.cancelled == job.run:
                return

    def cancel(self, run: str) -> None:
        self.cancelled = run
        self.waiting = deque(job for job in self.waiting if job.run != run)

    def close(self) -> None:
        self.waiting.clear()
