"""The seam between the coordinator and whatever trains: jobs go in, events come out."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from recollect.spec.events import Event
from recollect.sweep.executors.job import Job


class Unavailable(RuntimeError):
    """An executor that worked cannot go on; the message is the sentence to show (exit code 1)."""


class Executor(ABC):
    """Trains jobs; every job that was submitted and not cancelled ends in exactly one Done, Failed or Lost."""

    slots: int

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job; at most `slots` are under way at once."""

    @abstractmethod
    def events(self) -> Iterator[Event]:
        """What has happened since; waits for something to happen while a job is under way."""

    @abstractmethod
    def cancel(self, run: str) -> None:
        """Give up a job: it ends at once and is not heard of again."""

    @abstractmethod
    def close(self) -> None:
        """End everything that is under way and leave no process behind."""
