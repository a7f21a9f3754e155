"""The coordinator: one loop for grids and adaptive planners, one writer, nothing lost."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recollect.cli import main
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Lost, Started
from recollect.store import Record, Store
from recollect.store.lock import lock, who_writes
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Executor, Inline, Job, Local
from recollect.sweep.files import read_sweep
from tests.support.invented import result_of
from tests.support.small import tiny
from tests.sweep.test_executors import processes_with

CURVES = {"step": [0], "train_loss": [None]}


class Scripted(Executor):
    """Ends every job as a script says: done, failed or lost."""

    def __init__(self, script: Sequence[str] = (), slots: int = 2) -> None:
        self.script, self.slots, self.jobs, self.most, self.closed = deque(script), slots, deque[Job](), 0, False

    def submit(self, job: Job) -> None:
        self.jobs.append(job)
        self.most = max(self.most, len(self.jobs))

    def events(self) -> Iterator[Event]:
        run = self.jobs.popleft().run
        yield Started(run, 0, 1, {})
        match self.script.popleft() if self.script else "done":
            case "done":
                yield Done(run, result_of(tiny(), 1.0, "solved") | {"curves": CURVES}, 1.0)
            case "failed":
                yield Failed(run, "no")
            case "lost":
                yield Lost(run, "gone")

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "recollect.db", create=True)
    yield opened
    opened.close()


def outcome(store: Store, spec: RunSpec) -> tuple[str, int]:
    """Status and attempts."""
    record = store.record(spec.id)
    assert record is not None
    return record.status, record.attempt


def test_all_slots_are_used_and_no_more(store: Store) -> None:
    executor = Scripted(slots=3)
    sweep(Grid([tiny(seed=seed) for seed in range(8)]), executor, store)
    assert executor.most == 3
    assert executor.closed
    assert Counter(store.statuses().values()) == {"done": 8}


def test_a_lost_run_is_tried_again_up_to_the_limit(store: Store) -> None:
    sweep(Grid([tiny()]), Scripted(["lost", "lost", "done"]), store)
    assert outcome(store, tiny()) == ("done", 3)
    sweep(Grid([tiny(seed=1)]), Scripted(["lost", "lost", "lost", "done"]), store)
    assert outcome(store, tiny(seed=1)) == ("lost", 3)
    record = store.record(tiny(seed=1).id)
    assert record is not None
    assert record.error == "gone"


def test_a_later_sweep_tries_failed_and_lost_runs_again_and_done_ones_never(store: Store) -> None:
    specs = [tiny(seed=seed) for seed in range(3)]
    sweep(Grid(specs), Scripted(["done", "failed", "lost"], slots=1), store, retries=0)
    assert [outcome(store, spec)[0] for spec in specs] == ["done", "failed", "lost"]
    sweep(Grid(specs), Scripted(slots=1), store)
    assert [outcome(store, spec) for spec in specs] == [("done", 1), ("done", 2), ("done", 2)]


class Bisection:
    """An adaptive planner: asks for the next seed once the one before has ended."""

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        return [tiny(seed=len(finished))] if len(finished) < 4 and not under_way else []


def test_an_adaptive_planner_is_asked_after_every_end(store: Store) -> None:
    executor = Scripted(["done", "failed", "lost", "lost", "lost", "done"])
    sweep(Bisection(), executor, store)
    assert executor.most == 1
    assert [outcome(store, tiny(seed=seed))[0] for seed in range(4)] == ["done", "failed", "lost", "done"]


def test_a_planner_that_repeats_itself_comes_to_an_end(store: Store) -> None:
    class Stubborn:
        def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
            return [tiny()]

    sweep(Stubborn(), Scripted(), store)
    assert outcome(store, tiny()) == ("done", 1)


def test_a_second_coordinator_is_refused_by_name_and_leaves_nothing_open(store: Store) -> None:
    executor = Scripted()
    with lock(store.path), pytest.raises(BadInput, match=f"is being written by process {os.getpid()} on"):
        sweep(Grid([tiny()]), executor, store)
    assert executor.closed
    assert store.statuses() == {}


def test_what_a_killed_coordinator_left_running_is_not_running(store: Store) -> None:
    store.add([tiny(), tiny(seed=1)])
    store.start(tiny().id, {})
    assert who_writes(store.path) is None
    sweep(Grid([tiny(seed=1)]), Scripted(), store)
    assert outcome(store, tiny())[0] == "pending"
    with lock(store.path):
        writer = who_writes(store.path)
    assert writer is not None
    assert f"process {os.getpid()}" in writer.name
    assert abs(writer.since - time.time()) < 60


def test_whatever_is_raised_the_store_is_released(store: Store) -> None:
    class Breaks(Scripted):
        def events(self) -> Iterator[Event]:
            yield Started(self.jobs[0].run, 0, 1, {})
            raise KeyboardInterrupt

    executor = Breaks()
    with pytest.raises(KeyboardInterrupt):
        sweep(Grid([tiny()]), executor, store)
    assert executor.closed
    assert outcome(store, tiny()) == ("pending", 1)
    assert who_writes(store.path) is None


def test_half_written_files_are_swept_away(store: Store) -> None:
    folder = store.folder(tiny().id)
    folder.mkdir(parents=True)
    (folder / "checkpoint.123.tmp").write_text("half")
    sweep(Grid([tiny()]), Inline(), store)
    assert {file.name for file in folder.iterdir()} == {"model.safetensors"}


SWEEP = """
task: {name: mqar, vocab_size: 20, length: 8, n_pairs: 2, validation_rows: 40, test_rows: 40}
mixer: [attention, lstm]
lr: {log: [1e-3, 1e-1], n: LRS}
model: {d_model: 8, n_layers: 1}
train: {steps: 60, batch_size: 8, eval_every: 10, stop_accuracy: null}
seed: SEEDS
"""


RUN = [sys.executable, "-m", "recollect", "run", "sweep.yaml", "--workers", "2", "--checkpoint-seconds", "0.05"]


def kill(folder: Path, times: range) -> int:
    """`recollect run` on two workers, killed so many times at random moments; how many kills hit a run under way."""
    mark, rng, hits = {**os.environ, "RECOLLECT_MARK": str(folder)}, random.Random(times.start), 0
    for number in times:
        process = subprocess.Popen(RUN, cwd=folder, env=mark, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if number % 4:  # three of four hit a sweep at work, the others one that starts
            hits += freeze_at_work(process, folder, rng.uniform(0, 0.5))
        else:
            time.sleep(rng.uniform(0, 1.5))
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return hits


def freeze_at_work(process: subprocess.Popen[bytes], folder: Path, patience: float) -> bool:
    """Wait for a run to begin and a little longer, then stop the process while one is under way; whether it did."""
    before = sum(look(folder)[1])
    while process.poll() is None:
        if sum(look(folder)[1]) > before:
            time.sleep(patience)
            process.send_signal(signal.SIGSTOP)
            if "running" in look(folder)[0]:
                return True
            process.send_signal(signal.SIGCONT)
            patience = 0.0
        time.sleep(0.01)
    return False


def look(folder: Path) -> tuple[list[str], list[int]]:
    """The status of every run, and how often it was begun."""
    if not (folder / "recollect.db").exists() or not (folder / "recollect.db").stat().st_size:
        return [], []
    store = Store(folder / "recollect.db")
    records = store.records()
    store.close()
    return [record.status for record in records], [record.attempt for record in records]


@pytest.mark.parametrize(
    ("n_lrs", "n_seeds", "n_kills"), [(2, 3, 2), pytest.param(10, 10, 20, marks=pytest.mark.prove)]
)
def test_a_coordinator_killed_at_any_moment_loses_nothing(
    tmp_path: Path, n_lrs: int, n_seeds: int, n_kills: int
) -> None:
    text = SWEEP.replace("LRS", str(n_lrs)).replace("SEEDS", str(list(range(n_seeds))))
    (tmp_path / "sweep.yaml").write_text(text)
    assert kill(tmp_path, range(n_kills)) >= n_kills // 2
    finish_and_compare(tmp_path, 2 * n_lrs * n_seeds)


def finish_and_compare(folder: Path, n_runs: int) -> None:
    """Run to the end: every run once, none lost, no orphan, all results as in an undisturbed sweep."""
    mark = {**os.environ, "RECOLLECT_MARK": str(folder)}
    subprocess.run(RUN, cwd=folder, env=mark, capture_output=True, check=True)
    assert processes_with(str(folder)) == []
    specs = [case.spec for case in read_sweep(folder / "sweep.yaml").cases]
    assert len(specs) == n_runs
    undisturbed, store = Store(folder / "undisturbed.db", create=True), Store(folder / "recollect.db")
    sweep(Grid(specs), Local(2) if n_runs > 20 else Inline(), undisturbed)
    records = store.records(curves=True)
    assert Counter(record.status for record in records) == {"done": n_runs}
    assert any(record.attempt > 1 for record in records)
    expected = {record.id: record.result for record in undisturbed.records(curves=True)}
    assert {record.id: record.result for record in records} == expected
    assert set(expected) == {spec.id for spec in specs}
    points = [opened.db.execute("SELECT * FROM points").fetchall() for opened in (store, undisturbed)]
    assert [tuple(row) for row in points[0]] == [tuple(row) for row in points[1]]
    undisturbed.close()
    store.close()
    assert not list(folder.glob("recollect.files/*/*.tmp"))


def test_a_clock_that_jumps_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Years forwards and backwards at every look: nothing is done twice, lost, or in another order."""
    specs = [tiny(seed=seed) for seed in (1, 2, 3)]
    calm, wild = Store(tmp_path / "calm.db", create=True), Store(tmp_path / "wild.db", create=True)
    sweep(Grid(specs), Inline(), calm)
    jumps = itertools.cycle([4e9, 0.0, 1.7e9, -5.0])
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    sweep(Grid(specs[:2]), Inline(), wild)
    sweep(Grid(specs), Inline(), wild)
    with pytest.raises(SystemExit) as end:
        main(["status", "--store", str(wild.path)])
    assert end.value.code == 0
    found = {record.id: (record.status, record.attempt, record.result) for record in wild.records(curves=True)}
    assert found == {record.id: ("done", 1, record.result) for record in calm.records(curves=True)}
