"""The seam between the coordinator and whatever trains: jobs go in, events come out."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.events import Event


@dataclass(frozen=True)
class Job:
    """A run to be done, as JSON data: its spec and the folder for its files."""

    run: str
    spec: dict[str, Any]
    folder: str

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)


class Executor(ABC):
    """Trains jobs; every job that was submitted ends in exactly one Done or Failed."""

    slots: int

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Take a job; at most `slots` are under way at once."""

    @abstractmethod
    def events(self) -> Iterator[Event]:
        """What has happened since; waits for at least one event while a job is under way."""

    @abstractmethod
    def cancel(self, run: str) -> None:
        """Give up a job."""

    @abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""
