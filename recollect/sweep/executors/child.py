"""A process of ours at the other end of a pipe: JSON goes both ways, and it ends when the pipe closes.

`subprocess` rather than `multiprocessing`: a user's script needs no `if __name__ == "__main__"`, and the pipe's end of
file alone tells that the child died. The child has a session of its own, so Ctrl-C reaches the coordinator only.
"""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Connection
from typing import Any

GRACE = 10.0
"""Seconds that a child has to end by itself."""


class Pipe:
    """One end: whole JSON values."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self.connection = Connection(fd)

    def send(self, plain: dict[str, Any]) -> None:
        """Raises OSError where the other end is gone."""
        self.connection.send_bytes(json.dumps(plain).encode())

    def receive(self) -> dict[str, Any] | None:
        """The next value, waiting for it; None where the other end is gone."""
        try:
            plain: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None
        return plain


class Child:
    """The coordinator's side: start it, talk to it, find out how it ended."""

    def __init__(self, module: str) -> None:
        ours, theirs = socket.socketpair()
        # Not -m: that would put the working directory, and whatever modules lie there, first on the path.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; main({theirs.fileno()})"
        self.output = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self.pipe = Pipe(ours.detach())
        self.ended = ""

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self.process.poll() is None

    def waiting(self) -> list[dict[str, Any] | None]:
        """Everything it has said by now; a None at the end where it is gone."""
        said: list[dict[str, Any] | None] = []
        while self.pipe.connection.poll():
            said.append(self.pipe.receive())
            if said[-1] is None:
                break
        return said

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.close()

    def close(self) -> str:
        """Close the pipe, at which it ends; how it ended."""
        if self.ended:
            return self.ended
        self.pipe.connection.close()
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.ended = describe(self.process.returncode, self.last_words())
        self.output.close()
        return self.ended

    def last_words(self) -> str:
        """The last line that it wrote."""
        self.output.seek(max(0, self.output.seek(0, os.SEEK_END) - 2000))
        lines = self.output.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""


def describe(code: int, words: str) -> str:
    """How a process ended."""
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return f"{how} ({words})" if words else how


def listen(pipe: Pipe, at_end: threading.Event | None = None) -> "queue.Queue[dict[str, Any]]":
    """The child's side: a thread that reads the pipe and ends the process when the coordinator is gone.

    With `at_end`, that is set first and the process has some seconds to end by itself.
    """
    said: queue.Queue[dict[str, Any]] = queue.Queue()

    def read() -> None:
        while (plain := pipe.receive()) is not None:
            said.put(plain)
        if at_end is not None:
            at_end.set()
            threading.Event().wait(GRACE / 2)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return said
