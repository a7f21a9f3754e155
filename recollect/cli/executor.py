"""Options of every command that trains: who trains the runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.sweep.executors import Executor, Inline, Local, Ray, Wishes, cores

Kind = Literal["inline", "local", "ray"]


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """Who trains the runs."""

    executor: Annotated[Kind, Parameter(help="this process, workers on this machine, or a Ray cluster")] = "local"
    workers: Annotated[
        int | None, Parameter(help="runs at once; by default one per core (and thread), or what the cluster holds")
    ] = None
    address: Annotated[str, Parameter(help="Ray: the cluster's address; else $RAY_ADDRESS, else a new one here")] = ""
    cpus_per_run: Annotated[float, Parameter(help="Ray: CPUs that a run takes")] = 1.0
    gpus_per_run: Annotated[float, Parameter(help="Ray: GPUs that a run takes; a fraction shares one")] = 0.0
    checkpoint_seconds: Annotated[float, Parameter(help="between two checkpoints of a run")] = 5.0

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.workers is not None and self.workers < 1:
            raise BadInput(f"--workers: must be at least 1 (got {self.workers})")
        given = {
            "--address": self.address,
            "--cpus-per-run": self.cpus_per_run != 1,
            "--gpus-per-run": self.gpus_per_run,
        }
        for option in [option for option, value in given.items() if value and self.executor != "ray"]:
            raise BadInput(f"{option} is for --executor ray (got --executor {self.executor})")

    def at_once(self, specs: Sequence[RunSpec]) -> int:
        """How many runs this machine trains at once: every thread of every run has a core."""
        if self.executor == "inline":
            return 1
        threads = max((spec.compute.threads for spec in specs), default=1)
        return self.workers or max(1, cores() // threads)

    def make(self, specs: Sequence[RunSpec]) -> Executor:
        """The executor for these runs."""
        if not specs:
            return Inline()
        match self.executor:
            case "inline":
                return Inline(self.checkpoint_seconds)
            case "local":
                return Local(self.at_once(specs), self.checkpoint_seconds)
            case "ray":
                wishes = Wishes(self.address, self.cpus_per_run, self.gpus_per_run, self.checkpoint_seconds)
                return Ray(wishes, self.workers)
