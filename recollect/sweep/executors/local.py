"""Runs jobs in worker processes on this machine."""

from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from recollect.spec.events import Done, Event, Failed, Lost, from_plain
from recollect.sweep.executors.child import Child
from recollect.sweep.executors.executor import Executor, Unavailable, cores
from recollect.sweep.executors.job import Job

WORKER = "recollect.sweep.executors.worker"
STILLBORN = 3
"""So many workers in a row that die before they are ready mean that none will start."""


class Worker:
    """A child and what it is doing."""

    def __init__(self) -> None:
        self.child = Child(WORKER)
        self.job: Job | None = None
        self.ready = False


class Local(Executor):
    """Workers start when there is a job for them; a dead one is replaced at the next job."""

    def __init__(self, workers: int | None = None, checkpoint_seconds: float | None = None) -> None:
        self.slots = workers or cores()
        self.checkpoint_seconds = checkpoint_seconds
        self.workers: list[Worker] = []
        self.stillborn = 0

    def submit(self, job: Job) -> None:
        worker = self._idle()
        worker.job = job
        try:
            worker.child.pipe.send({"job": job.to_plain(), "checkpoint_seconds": self.checkpoint_seconds})
        except OSError:
            return  # it has just died; its pipe tells so at the next `events`

    def _idle(self) -> Worker:
        """A living worker that does nothing, a new one if need be."""
        for worker in [worker for worker in self.workers if worker.job is None]:
            if worker.child.alive:
                return worker
            self._bury(worker)
        self.workers.append(Worker())
        return self.workers[-1]

    def events(self) -> Iterator[Event]:
        busy = {worker.child.pipe.connection: worker for worker in self.workers if worker.job is not None}
        ready = wait(list(busy)) if busy else []
        said = [(worker, plain) for pipe, worker in busy.items() if pipe in ready for plain in worker.child.waiting()]
        for worker, plain in said:
            yield from self._lost(worker) if plain is None else self._heard(worker, plain)

    def _heard(self, worker: Worker, plain: dict[str, Any]) -> Iterator[Event]:
        if plain["kind"] == "Ready":
            worker.ready, self.stillborn = True, 0
            return
        event = from_plain(plain)
        if isinstance(event, Done | Failed):
            worker.job = None
        yield event

    def _lost(self, worker: Worker) -> Iterator[Event]:
        job, ended = worker.job, self._bury(worker)
        if not worker.ready:
            self.stillborn += 1
            if self.stillborn == STILLBORN:
                raise Unavailable(f"local workers do not start: the last one {ended}")
        if job is not None:
            yield Lost(job.run, f"its worker {ended}")

    def _bury(self, worker: Worker) -> str:
        self.workers.remove(worker)
        return worker.child.close()

    def close(self) -> None:
        for worker in self.workers:
            worker.child.kill()
        self.workers.clear()
