"""The Ray side of the Ray executor: a process that joins the cluster, hands over tasks and passes their events on."""

import json
import os
import queue
import socket
import threading
from collections.abc import Iterator
from typing import Any

import ray

from recollect.spec.events import Done, Event, Failed, Lost, from_plain, to_plain
from recollect.sweep.executors.child import Pipe, listen
from recollect.sweep.executors.job import Job, perform

WAIT = 0.1
"""Seconds for which the driver waits for Ray before it looks at its orders again."""
KNOCK = 5.0
"""Seconds for a cluster to answer at all."""
OBJECT_STORE = 200 * 2**20
"""Bytes of shared memory for a cluster of our own: events are small."""


def main(fd: int) -> None:
    """Join the cluster, then serve the coordinator at the other end of the pipe until it is gone."""
    pipe, ended = Pipe(fd), threading.Event()
    orders = listen(pipe, ended)
    wishes = orders.get()
    try:
        join(wishes["address"])
    except Exception as error:
        pipe.send({"kind": "Refused", "reason": " ".join(str(error).split())})
        return
    pipe.send({"kind": "Ready", "capacity": capacity(ray.nodes(), wishes["cpus"], wishes["gpus"])})
    Driver(pipe, wishes).serve(orders, ended)
    ray.shutdown()


def join(address: str) -> None:
    """Connect to a cluster, or start one on this machine without Ray's usage statistics."""
    if address:
        knock(address)
        ray.init(address=address, log_to_driver=False)
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(address="local", log_to_driver=False, include_dashboard=False, object_store_memory=OBJECT_STORE)


def knock(address: str) -> None:
    """Refuse an address where nothing answers: Ray itself would try for minutes."""
    host, colon, port = address.rpartition(":")
    if "://" in address:
        raise ValueError("write host:port; Ray Client addresses cannot stream results")
    if colon and port.isdigit():
        with socket.create_connection((host.strip("[]"), int(port)), timeout=KNOCK):
            return


def capacity(nodes: list[dict[str, Any]], cpus: float, gpus: float) -> int:
    """How many runs fit into the living nodes at once."""
    total = 0
    for node in nodes:
        if node["Alive"]:
            offers = node["Resources"]
            fits = [offers.get(name, 0) / share for name, share in (("CPU", cpus), ("GPU", gpus)) if share]
            total += int(min(fits) + 1e-6)
    return total


def train(plain: str, checkpoint_seconds: float | None) -> Iterator[str]:
    """The task: a job's events as JSON, one by one."""
    for event in perform(Job(**json.loads(plain)), checkpoint_seconds):
        yield json.dumps(to_plain(event))


class Driver:
    """Orders in, events out."""

    def __init__(self, pipe: Pipe, wishes: dict[str, Any]) -> None:
        self.pipe, self.checkpoint_seconds = pipe, wishes["checkpoint_seconds"]
        self.task = ray.remote(num_cpus=wishes["cpus"], num_gpus=wishes["gpus"], max_retries=0)(train)
        self.streams: dict[str, Any] = {}

    def serve(self, orders: "queue.Queue[dict[str, Any]]", ended: threading.Event) -> None:
        """Until the coordinator is gone."""
        while not ended.is_set():
            while not orders.empty():
                self.obey(orders.get())
            if not self.streams:
                ended.wait(WAIT)
                continue
            ray.wait(list(self.streams.values()), num_returns=1, timeout=WAIT)
            for run in list(self.streams):
                self.pass_on(run)

    def obey(self, job: dict[str, Any]) -> None:
        """Hand a job to Ray."""
        self.streams[job["run"]] = self.task.remote(json.dumps(job), self.checkpoint_seconds)

    def pass_on(self, run: str) -> None:
        """Everything that a run has said by now."""
        stream = self.streams[run]
        while run in self.streams and ray.wait([stream], timeout=0)[0]:
            event = self.next_event(run, stream)
            if isinstance(event, Done | Failed | Lost):
                del self.streams[run]
            self.pipe.send(to_plain(event))

    def next_event(self, run: str, stream: Any) -> Event:
        """One event; whatever Ray itself raises means that the task is gone."""
        try:
            return from_plain(json.loads(ray.get(next(stream))))
        except StopIteration:
            return Lost(run, "its Ray task ended without a result")
        except ray.exceptions.RayTaskError as error:
            return Failed(run, str(error))
        except ray.exceptions.RayError as error:
            return Lost(run, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
