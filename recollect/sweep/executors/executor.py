"""The seam between the coordinator and whatever trains: jobs go in, events come out."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.spec.events import Event
from recollect.sweep.executors.job import Job


class Unavailable(RuntimeError):
    """An executor that worked cannot go on; the message is the sentence to show (exit code 1)."""


@dataclass(frozen=True)
class Wishes:
    """Where to run and what each run takes; an executor that does not know of one refuses any other value."""

    address: str = ""  # of a cluster; empty: one of our own on this machine
    cpus: float = 1.0
    gpus: float = 0.0
    checkpoint_seconds: float | None = None
    workers: int | None = None  # runs at once; None: as many as there is room for
    threads: int = 1  # of each run

    def at_once(self) -> int:
        """How many runs this machine trains at once: every thread of every run has a core."""
        return self.workers or max(1, cores() // self.threads)


class Executor(ABC):
    """Trains jobs; every job that was submitted ends in one Done, Failed or Lost, unless it is closed before."""

    slots: int

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job; at most `slots` are under way at once."""

    @abstractmethod
    def events(self) -> Iterator[Event]:
        """What has happened since; waits for something to happen while a job is under way."""

    @abstractmethod
    def close(self) -> None:
        """End everything that is under way and leave no process behind."""


def cores() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
