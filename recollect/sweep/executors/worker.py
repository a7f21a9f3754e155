"""A local worker: torch is imported once, then one job after the other is trained."""

import faulthandler
import os

from recollect.spec.events import to_plain
from recollect.sweep.executors.child import Pipe, listen
from recollect.sweep.executors.job import Job, perform


def main(fd: int) -> None:
    """Serve the coordinator at the other end of the pipe until it is gone."""
    faulthandler.enable()
    pipe = Pipe(fd)
    orders = listen(pipe)
    import recollect.training.execute  # noqa: F401

    pipe.send({"kind": "Ready"})
    while True:
        order = orders.get()
        os.truncate(1, 0)
        for event in perform(Job(**order["job"]), order["checkpoint_seconds"]):
            pipe.send(to_plain(event))
