"""What sweeping costs: two workers against two processes that know nothing of each other, and a store of 3,000 runs."""

import statistics
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import take_turns
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from recollect.spec.events import Done, Event, Point, Started
from recollect.store import Store
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Executor, Job, Local

RUNS, STEPS, ROUNDS = 8, 200, 5
STORED, POINTS = 3000, 50


def specs(first: int, count: int) -> list[RunSpec]:
    """Equal runs of a few seconds."""
    fields = {"train.steps": STEPS, "train.eval_every": 100, "train.stop_accuracy": None, "model.n_layers": 2}
    return [make_spec("mqar", "attention", {**fields, "seed": seed}) for seed in range(first, first + count)]


def alone(first: int, folder: Path) -> None:
    """Half of the runs, one after the other, with their files and without a store."""
    from recollect.training.execute import execute

    for spec in specs(first, RUNS // 2):
        deque(execute(spec, folder / spec.id), maxlen=0)


def independent() -> None:
    """Two processes with half of the runs each, in sessions of their own as workers are: Linux shares by session."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.sweep", "alone", folder]
        halves = [subprocess.Popen([*command, str(half * RUNS // 2)], start_new_session=True) for half in range(2)]
        if any(half.wait() for half in halves):
            raise RuntimeError("an independent process failed")


def workers(count: int = 2) -> None:
    """The same runs on so many workers, into a store."""
    with TemporaryDirectory() as folder:
        store = Store(Path(folder) / "recollect.db", create=True)
        sweep(Grid(specs(0, RUNS)), Local(count), store)
        if set(store.statuses().values()) != {"done"}:
            raise RuntimeError("a run did not end well")


def runs_per_hour() -> dict[int, float]:
    """Workers -> runs of this small sweep an hour, by the clock on the wall, starting the workers included."""
    found = take_turns({str(count): partial(workers, count) for count in (1, 2)}, rounds=2, warm_up=0)
    return {int(count): RUNS * 3600 / seconds for count, seconds in found.items()}


class Instant(Executor):
    """Says at once what a run of 50 points would say, so that only the coordinator and the store take time."""

    slots = 2

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()

    def submit(self, job: Job) -> None:
        self.jobs.append(job)

    def events(self) -> Iterator[Event]:
        run = self.jobs.popleft().run
        names = ("train_loss", "train_accuracy", "validation_loss", "validation_accuracy")
        yield Started(run, 0, POINTS, {"host": "here"})
        for step in range(POINTS):
            yield Point(run, step, dict.fromkeys(names, 0.123456789 * step))
        curves: dict[str, list[float]] = {"step": list(range(POINTS))}
        curves |= {name: [0.123456789 * step for step in range(POINTS)] for name in names}
        yield Done(run, {"outcome": "solved", "test_accuracy": 1.0, "curves": curves}, 1.0)

    def close(self) -> None:
        self.jobs.clear()


def large_store(folder: Path) -> None:
    """Fill a store, look at it, and print what both took."""
    file, wanted = folder / "recollect.db", specs(0, STORED)
    store = Store(file, create=True)
    start = time.perf_counter()
    sweep(Grid(wanted), Instant(), store)
    cost = (time.perf_counter() - start) / STORED
    store.close()
    command = [sys.executable, "-m", "recollect", "status", "--store", str(file)]
    found = take_turns({"status": lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)}, rounds=5)
    print(f"coordinator and store: {cost * 1e3:.1f} ms a run of {POINTS} points (at most 50)")
    size = sum(part.stat().st_size for part in folder.glob("recollect.db*")) / 1e6
    print(f"{STORED} runs x {POINTS} points: status {found['status']:.2f} s (below 1), store {size:.0f} MB (below 100)")


def main() -> None:
    """Print all of it."""
    with TemporaryDirectory() as folder:
        large_store(Path(folder))
    calls = {"independent": independent, "workers": workers}
    rounds = [take_turns(calls, rounds=1, warm_up=0) for _ in range(ROUNDS)]
    shares = [turn["independent"] / turn["workers"] for turn in rounds]
    seconds = {name: statistics.median(turn[name] for turn in rounds) for name in calls}
    print(
        f"{RUNS} runs of {STEPS} steps: two independent processes {seconds['independent']:.1f} s, "
        f"two workers {seconds['workers']:.1f} s; {statistics.median(shares):.0%} of their throughput "
        f"(at least 95 %; {min(shares):.0%} to {max(shares):.0%} in {ROUNDS} rounds)"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        alone(int(sys.argv[3]), Path(sys.argv[2]))
    else:
        main()
