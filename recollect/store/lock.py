"""The lock that makes a coordinator its store's only writer; it goes when the process goes, however that ends."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

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
    with beside(path).open("a+") as handle:
        _hold(handle, path)
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()} on {os.uname().nodename}")
        handle.flush()
        yield


def who_writes(path: Path) -> Writer | None:
    """The coordinator at work on a store, if there is one."""
    try:
        with beside(path).open() as handle:
            if _try(handle, fcntl.LOCK_SH):
                return None
            return Writer(handle.read().strip() or "another process", os.fstat(handle.fileno()).st_mtime)
    except FileNotFoundError:
        return None


def beside(path: Path) -> Path:
    """The lock's file."""
    return path.with_name(path.name + ".lock")


def _hold(handle: TextIO, path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not _try(handle, fcntl.LOCK_EX):
        if time.monotonic() > until:
            handle.seek(0)
            raise BadInput(
                f"store: {path} is being written by {handle.read().strip() or 'another process'}; "
                "wait for it, or name another store with --store"
            )
        time.sleep(0.02)


def _try(handle: TextIO, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
