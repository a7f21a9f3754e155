"""The search: a pure planner, and the same as the coordinator sees it."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recollect.errors import BadInput
from recollect.spec.rates import on_lattice
from recollect.store import Record, Store
from recollect.sweep import sweep
from recollect.sweep.executors import Inline
from recollect.window import Ask, CellSearch, Reading, Search, even_grid_runs, measure, readings
from tests.support.small import tiny
from tests.support.synthetic import TRUTHS, run_search

SHARP = TRUTHS[4]


def log(ask: Ask | Reading) -> float:
    return math.log10(ask.lr)


def test_the_first_runs_fill_the_range_evenly() -> None:
    asked = Search().next([], count=7)
    assert sorted(round(log(ask), 3) for ask in asked) == [-4.5, -4.0, -3.5, -3.0, -2.5, -2.0, -1.5]
    assert log(asked[0]) == pytest.approx(-3)


def test_until_a_run_succeeds_the_range_is_filled_ever_more_finely() -> None:
    failed = [Reading(on_lattice(x), seed, 0.0) for seed, x in enumerate(np.arange(-4.5, -1.2, 0.5))]
    places = sorted(log(ask) for ask in Search().next(failed, count=8))
    assert places == pytest.approx(list(np.arange(-4.75, -1.2, 0.5)), abs=1e-3)
    one = [*failed[:3], replace(failed[3], accuracy=1.0), *failed[4:]]
    assert abs(log(Search().next(one)[0]) - log(one[3])) < 0.5


def test_runs_that_are_there_already_count_as_the_first_ones() -> None:
    known = [Reading(on_lattice(x), seed, 0.0) for seed, x in enumerate((-4.4, -3.5, -3.1, -2.0))]
    first = Search().next(known)[0]
    assert log(first) == pytest.approx(-2.55, abs=0.026)
    assert first.seed == 4


def test_every_run_has_a_new_seed_and_lies_on_the_lattice() -> None:
    seen = run_search(SHARP, Search(first_seed=7), world=1000, at_once=3)
    assert sorted(run.seed for run in seen) == list(range(7, 7 + len(seen)))
    for run in seen:
        assert run.lr == on_lattice(log(run))
        assert log(run) * 40 == pytest.approx(round(log(run) * 40), abs=1e-3)
        assert 1e-5 <= run.lr <= 1e-1


def test_the_same_input_gives_the_same_plan() -> None:
    seen = run_search(SHARP, Search(max_runs=15), world=1000)
    assert seen == run_search(SHARP, Search(max_runs=15), world=1000)
    search, under_way = Search(), [Ask(1e-3, 100)]
    assert search.next(seen, under_way, count=2) == search.next(seen, under_way, count=2)


def test_what_is_under_way_sends_the_next_run_elsewhere() -> None:
    seen = run_search(SHARP, Search(max_runs=14), world=1000)
    lower, upper = SHARP.edges()
    asked = Search().next(seen, count=4)
    near = {min((lower, upper), key=lambda edge: abs(edge - log(ask))) for ask in asked}
    assert near == {lower, upper}
    assert len({ask.lr for ask in asked}) > 2


def test_finished_running_and_lost_runs_are_all_spent() -> None:
    seen = run_search(SHARP, Search(max_runs=10), world=1000)
    search = Search(max_runs=13)
    assert len(search.next(seen, [Ask(1e-3, 50)], [Ask(1e-3, 51)], count=9)) == 1
    assert search.next(seen, [Ask(1e-3, 50)] * 3, count=9) == []
    assert len(seen) == 10


def test_the_search_ends_once_both_edges_are_known() -> None:
    search = Search(tolerance=0.3)
    seen = run_search(SHARP, search, world=1000)
    assert len(seen) < 30
    found = measure(seen, steps=1, low=search.low, high=search.high)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower.high - found.lower.low <= 0.3
    assert found.upper.high - found.upper.low <= 0.3
    assert found.gap <= 0.26


def test_a_window_that_covers_the_range_ends_the_search_too() -> None:
    always = replace(SHARP, a=-7.0, b=1.0)
    seen = run_search(always, Search(), world=1000)
    assert len(seen) < 40
    assert measure(seen, steps=1, low=1e-5, high=1e-1).flags[:2] == (
        "window open to the left",
        "window open to the right",
    )


def test_where_nothing_succeeds_all_runs_go_to_where_something_might() -> None:
    never = replace(SHARP, a=-0.5, b=-0.4)
    seen = run_search(never, Search(max_runs=24), world=1000)
    found = measure(seen, steps=1)
    assert len(seen) == 24
    assert found.flags == ("never solved",)
    places = sorted(log(run) for run in seen)
    assert max(after - before for before, after in itertools.pairwise(places)) <= 0.5


def test_a_search_needs_fewer_runs_than_an_even_grid() -> None:
    seen = run_search(SHARP, Search(), world=1000)
    even = even_grid_runs(measure(seen, steps=1, low=1e-5, high=1e-1))
    assert even is not None
    assert even > 1.5 * len(seen)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"low": 1e-1, "high": 1e-3}, "0 < low < high"),
        ({"high": math.inf}, "both finite"),
        ({"low": 1e-3, "high": 2e-3}, "less than half a decade"),
        ({"max_runs": 0}, "max_runs"),
        ({"threshold": 1.5}, "an accuracy in"),
    ],
)
def test_an_impossible_search_is_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        replace(Search(), **fields)


def test_a_threshold_that_no_run_can_reach_is_refused() -> None:
    with pytest.raises(BadInput, match=r"stops at accuracy 0\.8"):
        CellSearch(tiny(train__stop_accuracy=0.8), Search())


def record(status: str = "done", **fields: float) -> Record:
    spec = tiny(**fields)
    result = {"validation_accuracy": 1.0, "validation_loss": 0.1} if status == "done" else None
    return Record(spec.id, spec.cell, spec, status, None, 1, result, None, {}, 1.0)


def test_only_the_cells_own_runs_count_and_failed_ones_tell_nothing() -> None:
    runs = [record(seed=0), record("failed", seed=1), record(seed=2, model__d_model=16), record(seed=5)]
    planner = CellSearch(tiny(seed=9), Search(max_runs=8), ahead=3)
    assert [reading.seed for reading in readings(runs, planner.spec.cell)] == [0, 5]
    wanted = planner.next(runs, [tiny(seed=2)])
    assert [spec.seed for spec in wanted] == [3, 4, 6]
    assert {spec.cell for spec in wanted} == {planner.spec.cell}
    assert len(planner.next([record("failed", seed=seed) for seed in range(8)], [])) == 0


def test_the_coordinator_runs_a_search_and_resumes_it(tmp_path: Path) -> None:
    store, spec = Store(tmp_path / "recollect.db", create=True), tiny()
    for max_runs in (3, 5):
        sweep(CellSearch(spec, Search(max_runs=max_runs)), Inline(), store)
        found = readings(store.records(cell=spec.cell, curves=True), spec.cell)
        assert [run.seed for run in found] == list(range(max_runs))
    assert measure(found, steps=spec.train.steps).sensitivity is not None
