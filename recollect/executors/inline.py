"""Runs jobs in this process, one after the other: for single runs, debuggers and tests."""

import traceback
from collections import deque
from collections.abc import Iterator

from recollect.errors import BadInput
from recollect.events import Event, Failed
from recollect.executors.executor import Executor, Job
from recollect.spec import RunSpec


class Inline(Executor):
    """No other process; a job starts when its events are asked for."""

    slots = 1

    def __init__(self, checkpoint_seconds: float = 5.0) -> None:
        self.checkpoint_seconds = checkpoint_seconds
        self.waiting: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def events(self) -> Iterator[Event]:
        from recollect.execute import execute

        while self.waiting:
            job = self.waiting.popleft()
            try:
                yield from execute(RunSpec.model_validate(job.spec), job.path, self.checkpoint_seconds)
            except BadInput:
                raise
            except Exception:
                yield Failed(job.run, traceback.format_exc())

    def cancel(self, run: str) -> None:
        self.waiting = deque(job for job in self.waiting if job.run != run)

    def close(self) -> None:
        self.waiting.clear()
