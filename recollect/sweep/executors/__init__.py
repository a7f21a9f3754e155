"""Executors: who trains the runs."""

from collections.abc import Callable
from typing import NamedTuple

from recollect.errors import BadInput
from recollect.spec.registry import Registry
from recollect.sweep.executors.executor import Executor, Unavailable, Wishes
from recollect.sweep.executors.inline import Inline
from recollect.sweep.executors.job import Job, make_job, within_reach
from recollect.sweep.executors.local import Local
from recollect.sweep.executors.ray import Ray


class Kind(NamedTuple):
    """How an executor begins, how many runs it trains at once, and the wishes that it alone knows of."""

    begin: Callable[[Wishes], Executor]
    at_once: Callable[[Wishes], int] = Wishes.at_once
    takes: tuple[str, ...] = ()

    def check_workers(self, wishes: Wishes, said: str) -> None:
        """Refuse another number of runs at once than there will be; `said` is how both were asked for."""
        if wishes.workers not in (None, most := self.at_once(wishes)):
            raise BadInput(f"{said} trains {most} at once (got {wishes.workers})")


EXECUTORS: Registry[str, Kind] = Registry(
    "executor",
    {
        "inline": Kind(lambda wishes: Inline(wishes.checkpoint_seconds), at_once=lambda _: 1),
        "local": Kind(lambda wishes: Local(wishes.at_once(), wishes.checkpoint_seconds)),
        "ray": Kind(Ray, takes=("address", "cpus", "gpus")),
    }.items(),
)

__all__ = [
    "EXECUTORS",
    "Executor",
    "Inline",
    "Job",
    "Local",
    "Ray",
    "Unavailable",
    "Wishes",
    "make_job",
    "within_reach",
]
