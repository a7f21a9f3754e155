"""Options of every command that trains: who trains the runs."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from recollect.cli.options import CheckpointSeconds, Force, Logs, whole
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.sweep.executors import EXECUTORS, Executor, Inline, Wishes
from recollect.sweep.logs import Log, open_logs

if TYPE_CHECKING:
    Name = str
else:
    Name = Literal[tuple(EXECUTORS)]

OPTIONS = {"address": "--address", "cpus": "--cpus-per-run", "gpus": "--gpus-per-run"}
"""Wishes that some executors do not know of."""


@Parameter(name="*")
@dataclass(frozen=True)
class How:
    """Who trains the runs."""

    executor: Annotated[Name, Parameter(help="this process, workers on this machine, or a Ray cluster")] = "local"
    workers: Annotated[
        int | None,
        Parameter(
            converter=whole, help="runs at once; by default one per core (and thread), or what the cluster holds"
        ),
    ] = None
    address: Annotated[str, Parameter(help="Ray: the cluster's address; else $RAY_ADDRESS, else a new one here")] = ""
    cpus_per_run: Annotated[float, Parameter(help="Ray: CPUs that a run takes")] = 1.0
    gpus_per_run: Annotated[float, Parameter(help="Ray: GPUs that a run takes; a fraction shares one")] = 0.0
    force: Force = False
    checkpoint_seconds: CheckpointSeconds = None
    log: Logs = ()

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.workers is not None and self.workers < 1:
            raise BadInput(f"--workers: must be at least 1 (got {self.workers})")
        given, usual = self.wishes(()), Wishes()
        EXECUTORS[self.executor].check_workers(given, f"--workers: --executor {self.executor}")
        for wish, option in OPTIONS.items():
            if wish not in EXECUTORS[self.executor].takes and getattr(given, wish) != getattr(usual, wish):
                others = " or ".join(name for name, kind in EXECUTORS.items() if wish in kind.takes)
                raise BadInput(f"{option} is for --executor {others} (got --executor {self.executor})")

    def wishes(self, specs: Sequence[RunSpec]) -> Wishes:
        """What is asked of the executor of these runs."""
        threads = max((spec.compute.threads for spec in specs), default=1)
        shares = (self.address, self.cpus_per_run, self.gpus_per_run)
        return Wishes(*shares, self.checkpoint_seconds, self.workers, threads)

    def at_once(self, specs: Sequence[RunSpec]) -> int:
        """How many runs this machine trains at once."""
        return EXECUTORS[self.executor].at_once(self.wishes(specs))

    @property
    def elsewhere(self) -> bool:
        """Whether the runs may go to machines whose devices are not known here."""
        return "address" in EXECUTORS[self.executor].takes

    @contextmanager
    def logs(self, store: Path) -> Iterator[list[Log]]:
        """Who else is told; refused before anything is written where it is not installed."""
        with ExitStack() as stack:
            yield [stack.enter_context(closing(log)) for log in open_logs(self.log, store)]

    def make(self, specs: Sequence[RunSpec]) -> Executor:
        """The executor for these runs."""
        return EXECUTORS[self.executor].begin(self.wishes(specs)) if specs else Inline()
