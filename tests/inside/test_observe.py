"""Looking into runs while they train: nothing of the run changes, and nothing that is asked for is missing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect.inside.observe import ROWS, Observer
from recollect.inside.seen import draw_rows, look
from recollect.spec import RunSpec
from recollect.spec.events import Done, Event, Failed, Looked
from recollect.spec.watch import Watch
from recollect.store import Store
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Inline, Local
from recollect.training.execute import execute, initial_model
from tests.support.small import tiny

WATCH = Watch(looks=5)


def result(spec: RunSpec, watch: Watch | None) -> dict[str, Any]:
    events = list(execute(spec, watcher=None if watch is None else Observer(spec, watch)))
    (done,) = [event for event in events if isinstance(event, Done)]
    return done.result


def kept(path: Path, specs: list[RunSpec], watch: Watch | None, **how: Any) -> tuple[Store, list[Event]]:
    """A store after a sweep, and what the listener heard."""
    store, heard = Store(path, create=True), list[Event]()
    sweep(Grid(specs), how.get("executor", Inline()), store, heard.append, watch=watch)
    return store, heard


def test_looks_are_log_spaced_from_the_first_step_to_the_last() -> None:
    assert sorted(Watch(looks=4).steps(1000)) == [0, 2, 16, 126, 1000]
    assert not Watch(looks=4).lacks(1000, 250, {0, 2, 16, 126, 250})
    assert Watch(looks=4).lacks(1000, 250, {0, 2, 16, 126})
    assert Watch(looks=4).lacks(1000, 250, {0, 2, 126, 250})


@pytest.mark.parametrize("mixer", ["attention", "mamba", "deltanet", "lstm"])
def test_an_observed_run_is_the_same_bit_for_bit(mixer: str) -> None:
    spec = tiny(mixer, model__dropout=0.1, model__n_layers=2)
    assert result(spec, WATCH) == result(spec, None)


def test_the_store_keeps_what_was_seen(tmp_path: Path) -> None:
    spec = tiny(model__n_layers=2)
    store, _ = kept(tmp_path / "a.db", [spec], WATCH)
    assert store.looked() == {spec.id: Watch(looks=5).steps(12)}
    looks = store.looks(spec.id)
    seen = look(initial_model(spec), draw_rows(spec, ROWS))
    for name, value in seen.numbers().items():
        assert looks[name][0] == pytest.approx(value, rel=1e-5, nan_ok=True), name
    np.testing.assert_allclose(looks["1 mixing 0"][0], seen.layers[1].matrices[0], rtol=1e-5)
    assert set(looks["1 mixing 0"]) == {0, 12}
    assert looks["keys"][12].tolist() == [0, 2]


def test_workers_look_too(tmp_path: Path) -> None:
    spec = tiny()
    store, _ = kept(tmp_path / "a.db", [spec], WATCH, executor=Local(1))
    assert store.looked() == {spec.id: Watch(looks=5).steps(12)}


def test_a_finished_run_is_trained_again_for_what_was_not_seen_and_its_record_stays(tmp_path: Path) -> None:
    spec = tiny()
    store, _ = kept(tmp_path / "a.db", [spec], None)
    before = store.record(spec.id)
    _, heard = kept(tmp_path / "a.db", [spec], WATCH)
    assert any(isinstance(event, Looked) for event in heard)
    assert store.record(spec.id) == before
    assert store.looked() == {spec.id: WATCH.steps(12)}
    _, heard = kept(tmp_path / "a.db", [spec], WATCH)
    assert heard == []


def test_one_that_ends_otherwise_is_a_failure_and_keeps_nothing(tmp_path: Path) -> None:
    spec = tiny()
    store, _ = kept(tmp_path / "a.db", [spec], None)
    store.db.execute("UPDATE runs SET result = replace(result, '\"steps\":12', '\"steps\":11')")
    _, heard = kept(tmp_path / "a.db", [spec], WATCH)
    (failed,) = [event for event in heard if isinstance(event, Failed)]
    assert failed.error == (
        "trained again to look inside, it ended otherwise: steps 11 before, 12 now; nothing is kept"
    )
    assert store.looked() == {}
    assert store.statuses() == {spec.id: "done"}
