"""The lock that makes a coordinator its store's only writer; it goes when the process goes, however that ends.

Beside the store lie the lock itself and the holder's name, which is gone when the holder ends in peace.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from recollect.errors import BadInput

PATIENCE = 0.5
"""Seconds for which a lock is tried: a reader who asks `who_writes` holds it for a moment."""


@dataclass(frozen=True)
class Writer:
    """Who writes a store, and since when (seconds since 1970)."""

    name: str
    since: float


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Be the store's only writer; a second one is refused with the first one's name."""
    held, name = _lock(path), _holder(path)
    try:
        held.acquire(timeout=PATIENCE, poll_interval=0.02)
    except Timeout:
        raise BadInput(
            f"store: {path} is being written by {_writer(path).name}; wait for it, or name another store with --store"
        ) from None
    try:
        name.write_text(f"process {os.getpid()} on {platform.node()}")
        yield
    finally:
        name.unlink(missing_ok=True)
        held.release()


def who_writes(path: Path) -> Writer | None:
    """The coordinator at work on a store, if there is one; who may not write there is told by the name alone."""
    if not beside(path, "lock").exists():
        return None
    try:
        with _lock(path).acquire(blocking=False):
            return None
    except Timeout:
        return _writer(path)
    except OSError:
        return _writer(path) if _holder(path).exists() else None


def beside(path: Path, ending: str) -> Path:
    """A file that goes with the store, by whatever name it is called."""
    place = itself(path)
    return place.with_name(f"{place.name}.{ending}")


def itself(path: Path) -> Path:
    """The store that a link leads to: two names of one store must not have two locks, nor two folders."""
    try:
        return path.resolve() if path.is_symlink() else path
    except (RuntimeError, OSError):  # which of them depends on Python's version
        raise BadInput(f"store: {path} is a link that leads round to itself") from None


def _lock(path: Path) -> FileLock:
    return FileLock(beside(path, "lock"))


def _holder(path: Path) -> Path:
    return beside(path, "writer")


def _writer(path: Path) -> Writer:
    """Whoever holds the lock; a holder that has not yet written its name, or is just leaving, is another process."""
    try:
        return Writer(_holder(path).read_text(), _holder(path).stat().st_mtime)
    except OSError:
        return Writer("another process", beside(path, "lock").stat().st_mtime)
