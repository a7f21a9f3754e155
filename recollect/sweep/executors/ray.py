"""Runs jobs on a Ray cluster, through a driver process of its own.

The driver holds all of Ray: its output, which no option silences, stays out of the terminal, and its signal handlers
out of this process. When the driver ends, Ray ends the tasks of its job.
"""

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from multiprocessing.connection import wait
from typing import Any

from recollect.errors import BadInput
from recollect.spec.events import Done, Event, Failed, Lost, from_plain
from recollect.sweep.executors.child import Child
from recollect.sweep.executors.executor import Executor, Unavailable, Wishes
from recollect.sweep.executors.job import Job

ANSWER, START = 30.0, 120.0
"""Seconds that a cluster has to answer, and one of our own to start."""
AHEAD = 2
"""Runs handed to Ray for each that fits at once: no node waits for the coordinator, and a node that joins has work."""


class Ray(Executor):
    """Tasks that stream their events; Ray never retries, the coordinator does."""

    def __init__(self, given: Wishes = Wishes()) -> None:  # noqa: B008
        check(given)
        if importlib.util.find_spec("ray") is None:
            raise BadInput("--executor ray: Ray is not installed; run: pip install 'recollect[ray]'")
        self.wishes = replace(given, address=given.address or os.environ.get("RAY_ADDRESS", ""))
        self.under_way: dict[str, None] = {}
        self.child, self.capacity = self._start()
        self.slots = given.workers or AHEAD * self.capacity
        if self.slots == 0:
            self.close()
            raise BadInput(
                f"--executor ray: no node of the cluster offers {given.cpus:g} CPUs and {given.gpus:g} GPUs for a run; "
                "ask for less, or name --workers to wait for a node that does"
            )

    def _start(self) -> tuple[Child, int]:
        """A driver that has joined the cluster, and the number of runs that fit into it at once."""
        where = self.wishes.address or "a new cluster on this machine"
        child = Child("recollect.sweep.executors.ray_driver")
        patience = ANSWER if self.wishes.address else START
        try:
            child.pipe.send(asdict(self.wishes))
            if not wait([child.pipe.connection], patience):
                raise BadInput(f"--executor ray: {where} does not answer within {patience:.0f} s")
            answer = child.pipe.receive() or {"kind": "Refused", "reason": ""}
        except BaseException:
            child.kill()
            raise
        if answer["kind"] == "Ready":
            return child, answer["capacity"]
        ended = child.close()
        raise BadInput(f"--executor ray: cannot join {where}: {answer['reason'] or 'the driver ' + ended}")

    def submit(self, job: Job) -> None:
        self.under_way[job.run] = None
        try:
            self.child.pipe.send(job.to_plain())
        except OSError:
            return  # the driver has just died; its pipe tells so at the next `events`

    def events(self) -> Iterator[Event]:
        if not self.under_way:
            return
        wait([self.child.pipe.connection])
        for plain in self.child.waiting():
            yield from self._lost() if plain is None else self._heard(plain)

    def _heard(self, plain: dict[str, Any]) -> Iterator[Event]:
        event = from_plain(plain)
        if isinstance(event, Done | Failed | Lost):
            del self.under_way[event.run]
        yield event

    def _lost(self) -> Iterator[Event]:
        """The driver died: all that was under way is lost, and a new driver joins the cluster."""
        runs, ended = list(self.under_way), self.child.close()
        self.under_way.clear()
        for run in runs:
            yield Lost(run, f"the Ray driver {ended}")
        try:
            self.child, self.capacity = self._start()
        except BadInput as error:
            raise Unavailable(str(error)) from None

    def close(self) -> None:
        self.under_way.clear()
        self.child.close()


def check(wishes: Wishes) -> None:
    """Refuse what Ray cannot give."""
    if wishes.cpus <= 0:
        raise BadInput(f"--cpus-per-run: must be above 0 (got {wishes.cpus:g})")
    if wishes.gpus < 0 or (wishes.gpus > 1 and wishes.gpus != int(wishes.gpus)):
        raise BadInput(f"--gpus-per-run: 0, a fraction, or a whole number (got {wishes.gpus:g})")
