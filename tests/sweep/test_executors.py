"""One conformance suite over all executors: whatever happens, every run ends exactly once in the store."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import run
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Lost, Point, Started
from recollect.store import Record, Store
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Executor, Inline, Local, Ray, Unavailable, Wishes, make_job
from recollect.sweep.files import read_sweep
from tests.support.places import SUPPORT, TROUBLE
from tests.support.small import tiny

MIXER = f"{TROUBLE}:Trouble"
needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'recollect[ray]'"
)
EXECUTORS = ["inline", "local", pytest.param("ray", marks=needs_ray)]
LONG = ["inline", "local", pytest.param("ray", marks=[needs_ray, pytest.mark.prove])]
"""With Ray these take half a minute each."""
APART = EXECUTORS[1:]


class RayCluster:
    """Two nodes on this machine, in a process of their own."""

    def __init__(self) -> None:
        command = [sys.executable, str(SUPPORT / "ray_cluster.py")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.address = self.hear("address ")

    def hear(self, start: str) -> str:
        """The rest of the next line that begins so."""
        assert self.process.stdout is not None
        return next(line for line in self.process.stdout if line.startswith(start)).removeprefix(start).strip()

    def tell(self, order: str) -> None:
        """Remove or add a node."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()
        self.hear("done")

    def close(self) -> None:
        """End the cluster."""
        self.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[RayCluster]:
    cluster = RayCluster()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def make(request: pytest.FixtureRequest) -> Callable[[str], Executor]:
    def made(name: str) -> Executor:
        match name:
            case "inline":
                return Inline(checkpoint_seconds=0)
            case "local":
                return Local(2, checkpoint_seconds=0)
            case _:
                address = request.getfixturevalue("ray_cluster").address
                return Ray(Wishes(address, checkpoint_seconds=0))

    return made


def trouble(file: str = MIXER, seed: int = 42, **options: Any) -> RunSpec:
    """A tiny run of the troublesome mixer."""
    return tiny(file, seed=seed, **{f"model__mixer.{key}": value for key, value in options.items()})


def cases(folder: Path, name: str) -> dict[str, RunSpec]:
    """The runs of the mixed sweep on an executor: what kills a process is not for the one that is ours."""
    known = {
        "one": tiny(),
        "two": tiny("lstm", seed=7),
        "mine": trouble(),
        "raises": trouble(kind="raise"),
        "exits": trouble(kind="exit"),
        "not finite": tiny(train__lr=1e30, train__clip=None, train__warmup_steps=0),
        "kills once": trouble(kind="kill once", marker=str(folder / "marker")),
        "kills": trouble(kind="kill"),
    }
    left_out = {"inline": {"kills once", "kills"}, "local": set[str](), "ray": {"kills"}}
    return {case: spec for case, spec in known.items() if case not in left_out[name]}


class Mixed:
    """A sweep in which all kinds of things happen: its records by name, and its events."""

    def __init__(self, executor: Executor, folder: Path, name: str) -> None:
        specs = cases(folder, name)
        store, self.events = Store(folder / "recollect.db", create=True), list[Event]()
        sweep(Grid(list(specs.values())), executor, store, self.events.append)
        found = {record.id: record for record in store.records(curves=True)}
        self.records: dict[str, Record] = {case: found[spec.id] for case, spec in specs.items()}
        assert len(found) == len(specs)
        store.close()


@pytest.fixture(scope="module")
def mixed(make: Callable[[str], Executor], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Mixed]:
    known: dict[str, Mixed] = {}

    def made(name: str) -> Mixed:
        if name not in known:
            known[name] = Mixed(make(name), tmp_path_factory.mktemp(name), name)
        return known[name]

    return made


@pytest.mark.parametrize("name", EXECUTORS)
def test_every_run_ends_once(mixed: Callable[[str], Mixed], name: str) -> None:
    ends = Counter(event.run for event in mixed(name).events if isinstance(event, Done | Failed))
    lost = mixed(name).records.get("kills")
    assert ends == {record.id: 1 for record in mixed(name).records.values() if record is not lost}
    assert not any(record.status in ("pending", "running") for record in mixed(name).records.values())


@pytest.mark.parametrize("name", APART)
def test_the_same_specs_give_the_same_results_as_inline(mixed: Callable[[str], Mixed], name: str) -> None:
    here, there = mixed("inline").records, mixed(name).records
    for case in ("one", "two", "mine", "not finite"):
        assert here[case].result == there[case].result is not None
    assert there["kills once"].result == here["mine"].result


@pytest.mark.parametrize("name", EXECUTORS)
def test_wherever_a_run_trains_subnormal_numbers_are_zero(mixed: Callable[[str], Mixed], name: str) -> None:
    assert {record.provenance["subnormals"] for record in mixed(name).records.values()} == {"flushed"}


@pytest.mark.parametrize("name", EXECUTORS)
def test_what_a_run_raises_is_kept_and_not_tried_again(mixed: Callable[[str], Mixed], name: str) -> None:
    for case, words in (("raises", "trouble in mid-training"), ("exits", "SystemExit: 3")):
        record = mixed(name).records[case]
        assert (record.status, record.attempt) == ("failed", 1)
        assert record.error is not None
        assert words in record.error
        assert "Traceback" in record.error


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_loss_that_is_not_finite_is_a_result(mixed: Callable[[str], Mixed], name: str) -> None:
    record = mixed(name).records["not finite"]
    assert (record.status, record.outcome) == ("done", "diverged")


@pytest.mark.parametrize("name", APART)
def test_a_run_goes_on_after_its_worker_was_killed(mixed: Callable[[str], Mixed], name: str) -> None:
    record = mixed(name).records["kills once"]
    assert (record.status, record.attempt) == ("done", 2)
    steps = [event.step for event in mixed(name).events if isinstance(event, Started) and event.run == record.id]
    assert steps[0] == 0 < steps[1]


@pytest.mark.parametrize("name", APART)
def test_a_loss_names_its_reason(mixed: Callable[[str], Mixed], name: str) -> None:
    reasons = [event.reason for event in mixed(name).events if isinstance(event, Lost)]
    assert reasons
    assert all({"local": "its worker was killed by SIGKILL", "ray": "WorkerCrashedError"}[name] in r for r in reasons)


def test_a_run_that_kills_every_worker_is_lost_after_three_attempts(mixed: Callable[[str], Mixed]) -> None:
    record = mixed("local").records["kills"]
    assert (record.status, record.attempt, record.error) == ("lost", 3, "its worker was killed by SIGKILL")


def until(executor: Executor, kind: type[Event], run: str, seen: list[Event]) -> None:
    """Listen until a run says so."""
    while not any(isinstance(event, kind) and event.run == run for event in seen):
        for event in executor.events():
            seen.append(event)
            if isinstance(event, kind) and event.run == run:
                break


@pytest.mark.parametrize("name", LONG)
def test_a_job_carries_its_file(make: Callable[[str], Executor], name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TROUBLE.read_text())
    spec = trouble(f"{file}:Trouble")
    job = make_job(spec, tmp_path / spec.id)
    file.write_text("1 / 0")
    executor, seen = make(name), list[Event]()
    executor.submit(job)
    until(executor, Done, spec.id, seen)
    executor.close()
    assert isinstance(seen[0], Started)


@pytest.mark.prove
@needs_ray
def test_a_ray_node_that_dies_takes_no_run_with_it(ray_cluster: RayCluster, tmp_path: Path) -> None:
    specs = [trouble(seed=seed, seconds=0.15) for seed in range(3)]
    store = Store(tmp_path / "recollect.db", create=True)
    lost, started = list[Lost](), set[str]()

    def listen(event: Event) -> None:
        if isinstance(event, Lost):
            lost.append(event)
        elif isinstance(event, Point) and event.step >= 4 and event.run not in started:
            started.add(event.run)
            if len(started) == 2:
                ray_cluster.tell("remove")

    sweep(Grid(specs), Ray(Wishes(ray_cluster.address, checkpoint_seconds=0)), store, listen)
    ray_cluster.tell("add")
    assert lost
    assert "NodeDiedError" in lost[0].reason or "WorkerCrashedError" in lost[0].reason
    records = {record.id: record for record in store.records(curves=True)}
    assert len(records) == 3
    for spec in specs:
        assert records[spec.id].result == run(trouble(seed=spec.seed)).result
    store.close()


YAML = """
task: {name: mqar, vocab_size: 20, length: 8, n_pairs: 2, validation_rows: 40, test_rows: 40}
mixer: [{name: trouble.py:Trouble, kind: none}, {name: trouble.py:Trouble, kind: wait}]
lr: 1e-3
model: {d_model: 8, n_layers: 1}
train: {steps: 12, batch_size: 8, eval_every: 4, stop_accuracy: null}
seed: [1, 2, 3]
"""


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    """The results of the YAML file, from whichever executor was first."""
    return {}


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_cleanly_and_the_same_sweep_goes_on_to_the_same_results(
    request: pytest.FixtureRequest, known: dict[str, Any], name: str, tmp_path: Path
) -> None:
    (tmp_path / "sweep.yaml").write_text(YAML)
    (tmp_path / "trouble.py").write_text(TROUBLE.read_text())
    (tmp_path / "hold").touch()  # three runs end, the others wait: the sweep cannot be over before the signal comes
    where, share = [], ["--cpus-per-run", "0.5", "--gpus-per-run", "0.5"]
    if name == "ray":  # two runs share the one GPU
        where = ["--address", request.getfixturevalue("ray_cluster").address, *share]
    words = [sys.executable, "-m", "recollect", "run", "sweep.yaml", "--executor", name, *where]
    mark = {**os.environ, "RECOLLECT_MARK": str(tmp_path)}
    process = subprocess.Popen(words, cwd=tmp_path, env=mark, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c)
    wait_for(tmp_path / "recollect.db", {"done": 3, "running": 1})
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1].startswith("recollect: stopped; ")
    assert "go on with: recollect run sweep.yaml" in errors
    assert set(statuses(tmp_path / "recollect.db")) == {"done", "pending"}
    assert processes_with(str(tmp_path)) == []
    (tmp_path / "hold").unlink()
    store, specs = Store(tmp_path / "recollect.db"), [case.spec for case in read_sweep(tmp_path / "sweep.yaml").cases]
    sweep(Grid(specs), Inline(), store)
    found = {record.id: record.result for record in store.records(status="done", curves=True)}
    store.close()
    assert set(found) == {spec.id for spec in specs}
    assert known.setdefault("results", found) == found


@needs_ray
@pytest.mark.prove
def test_the_same_yaml_gives_the_same_results_on_two_ray_nodes_as_on_local_workers(
    ray_cluster: RayCluster, tmp_path: Path
) -> None:
    (tmp_path / "sweep.yaml").write_text(
        YAML.replace("trouble.py:Trouble, kind: none", "mamba").replace("trouble.py:Trouble, kind: wait", "attention")
    )
    results = []
    for name, where in (("local", []), ("ray", ["--address", ray_cluster.address])):
        words = ["run", "sweep.yaml", "--executor", name, *where, "--store", f"{name}.db"]
        subprocess.run([sys.executable, "-m", "recollect", *words], cwd=tmp_path, check=True)
        store = Store(tmp_path / f"{name}.db")
        results.append({record.id: record.result for record in store.records(status="done", curves=True)})
        store.close()
    assert results[0] == results[1]
    assert len(results[0]) == 6


def hear_ctrl_c() -> None:
    """Whoever runs the tests in the background has Ctrl-C ignored, and so would the command."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def statuses(file: Path) -> dict[str, int]:
    """Status -> number of runs."""
    store = Store(file)
    found = Counter(store.statuses().values())
    store.close()
    return dict(found)


def wait_for(file: Path, at_least: dict[str, int]) -> None:
    """Until a store says so; two minutes are enough on any machine."""
    end = time.monotonic() + 120
    while not file.exists() or not file.stat().st_size:
        assert time.monotonic() < end, "no store"
        time.sleep(0.05)
    while any((found := statuses(file)).get(status, 0) < count for status, count in at_least.items()):
        assert time.monotonic() < end, found
        time.sleep(0.05)


def processes_with(mark: str) -> list[str]:
    """The processes that carry a mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"RECOLLECT_MARK={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def test_local_workers_that_do_not_start_are_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("recollect.sweep.executors.local.WORKER", "recollect.nowhere")
    store = Store(tmp_path / "recollect.db", create=True)
    with pytest.raises(Unavailable, match=r"do not start.*No module named 'recollect.nowhere'"):
        sweep(Grid([tiny()]), Local(1), store)
    assert statuses(store.path) == {"pending": 1}


BAD_WISHES = {
    "no CPU": (Wishes(cpus=0), "--cpus-per-run: must be above 0"),
    "a GPU and a half": (Wishes(gpus=1.5), "--gpus-per-run: 0, a fraction, or a whole number"),
    "no cluster there": (Wishes(address="127.0.0.1:1"), "cannot join 127.0.0.1:1"),
}


@needs_ray
@pytest.mark.parametrize("case", BAD_WISHES)
def test_what_ray_cannot_give_is_refused_in_one_sentence(case: str) -> None:
    wishes, expected = BAD_WISHES[case]
    with pytest.raises(BadInput) as caught:
        Ray(wishes)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@needs_ray
def test_a_cluster_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.sweep.executors.ray.ANSWER", 3.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(BadInput, match=f"{address} does not answer within 3 s"):
            Ray(Wishes(address=address))


@needs_ray
def test_a_run_that_fits_nowhere_is_refused(ray_cluster: RayCluster) -> None:
    with pytest.raises(BadInput, match="no node of the cluster offers 1 CPUs and 2 GPUs"):
        Ray(Wishes(ray_cluster.address, gpus=2))


@needs_ray
def test_runs_that_fit_at_once_are_counted_node_by_node() -> None:
    from recollect.sweep.executors.ray_driver import capacity

    nodes: list[dict[str, Any]] = [
        {"Alive": True, "Resources": {"CPU": 4.0}},
        {"Alive": True, "Resources": {"CPU": 4.0, "GPU": 1.0}},
        {"Alive": False, "Resources": {"CPU": 64.0}},
    ]
    assert [capacity(nodes, cpus, gpus) for cpus, gpus in ((1, 0), (3, 0), (1, 0.25), (0.5, 0.1), (2, 1))] == [
        *(8, 2, 4, 8, 1)
    ]


def test_a_missing_ray_is_said_with_the_line_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"pip install 'recollect\[ray\]'"):
        Ray()
