"""A cell by search: the window first, then the seeds at the best rate; what each run tells of."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from recollect.spec import RunSpec
from recollect.store import ACCURACY, WINDOW, Record
from recollect.window import Searches, TunedCell, measure, readings
from recollect.window.select import choose, window_of
from recollect.window.tuned import MOST, USUAL
from tests.support.invented import record_of
from tests.support.small import tiny

SEEDS = (0, 42)
SPAN = (1e-4, 1e-1)


def cell(spec: RunSpec | None = None, most: int = MOST) -> TunedCell:
    """The cell that most tests look at."""
    return TunedCell.of(spec or tiny(), SEEDS, SPAN, most)


def ended(spec: RunSpec, low: float = -2.6, high: float = -1.9) -> Record:
    """A run that succeeds in a window."""
    return record_of(spec, 0.995 if low < math.log10(spec.train.lr) < high else 0.2, "partial")


def play(planner: TunedCell | Searches, low: float = -2.6, high: float = -1.9, at_once: int = 2) -> list[Record]:
    """All runs that a planner asks for, so many under way at once."""
    finished: list[Record] = []
    under_way: list[RunSpec] = []
    while True:
        under_way += list(planner.next(finished, under_way))[: at_once - len(under_way)]
        if not under_way:
            return finished
        finished.append(ended(under_way.pop(0), low, high))


def test_the_window_comes_first_and_then_every_seed_at_the_best_rate() -> None:
    runs = play(cell())
    searched, added = runs[: -len(SEEDS)], runs[-len(SEEDS) :]
    assert USUAL <= len(searched) <= MOST
    assert not {run.spec.seed for run in searched} & set(SEEDS)
    assert len({run.spec.seed for run in searched}) == len(searched)
    found = measure(readings(searched, runs[0].cell), steps=1, low=SPAN[0], high=SPAN[1])
    assert [(run.spec.train.lr, run.spec.seed) for run in added] == [(found.best_lr, seed) for seed in SEEDS]
    assert [cell().tells(run.spec) for run in runs] == [WINDOW] * len(searched) + [ACCURACY] * len(SEEDS)
    assert cell().known(runs) == runs


def test_where_nothing_succeeds_the_usual_runs_are_enough() -> None:
    runs = play(cell(), low=0, high=1)
    assert len(runs) == USUAL + len(SEEDS)
    x = sorted(run.spec.train.lr for run in runs[:USUAL])
    assert max(math.log10(b / a) for a, b in pairwise(x)) <= 3 / 8 + 0.03
    assert len(play(cell(most=4), low=0, high=1)) == 4 + len(SEEDS)


def test_a_search_goes_on_for_an_unclear_edge_only() -> None:
    runs = play(cell(), low=-9, high=9)
    assert len(runs) == USUAL + len(SEEDS), "a window that covers the range has no edge to be unclear"
    runs = play(cell())
    found = measure(readings(runs[:-2], runs[0].cell), steps=1, low=SPAN[0], high=SPAN[1])
    assert found.lower is not None
    assert found.upper is not None
    clear = all(edge.high - edge.low <= 0.3 for edge in (found.lower, found.upper))
    assert clear or len(runs) == MOST + len(SEEDS)


def test_a_plan_that_is_taken_up_again_at_any_moment_ends_with_the_same_runs() -> None:
    whole = play(cell(), at_once=1)
    for cut in range(len(whole) + 1):
        (wanted, *_) = [*cell().next(whole[:cut], []), None]
        assert wanted == (whole[cut].spec if cut < len(whole) else None)


def test_runs_with_the_seeds_of_the_study_do_not_steer_the_search() -> None:
    runs = play(cell())
    grid = [ended(tiny(train__lr=lr, seed=seed)) for lr in (1e-3, 1e-2) for seed in SEEDS]
    for cut in (0, 5, len(runs)):
        known = {run.id: run for run in [*grid, *runs[:cut]]}
        assert cell().next(list(known.values()), []) == cell().next(runs[:cut], [])


def test_no_seed_is_asked_for_while_the_search_is_under_way() -> None:
    runs = play(cell(), low=0, high=1)
    last = runs[USUAL - 1].spec
    assert cell().next(runs[: USUAL - 1], [last]) == []
    assert len(cell().next(runs[:USUAL], [])) == len(SEEDS)
    assert [spec.seed for spec in cell().next(runs[:USUAL], [runs[USUAL].spec])] == [SEEDS[1]]


def test_a_run_that_raised_is_spent_and_another_seed_is_not() -> None:
    runs = play(cell(), low=0, high=1)
    broken = [replace(run, status="failed", result=None) for run in runs]
    assert cell().next(broken[:USUAL], []) == [], "without one result there is no best rate"
    assert [spec.seed for spec in cell().next([*runs[:USUAL], broken[USUAL]], [])] == [SEEDS[1]]


def test_several_cells_share_the_workers() -> None:
    one, other = cell(), cell(tiny("lstm"))
    runs = play(Searches((one, other), at_once=3), at_once=3)
    for planner in (one, other):
        own = [run for run in runs if run.cell == planner.spec.cell]
        assert len(own) >= USUAL + len(SEEDS)
        assert planner.next(own, []) == []


def told(runs: list[Record]) -> list[Record]:
    """As a study hands them out."""
    return [replace(run, tells=cell().tells(run.spec)) for run in runs]


def test_the_accuracy_is_that_of_the_added_seeds_and_the_window_that_of_the_search() -> None:
    runs = told(play(cell()))
    worse = [replace(run, result={**(run.result or {}), "test_accuracy": 0.6}) for run in runs if run.tells == ACCURACY]
    searched = [run for run in runs if run.tells == WINDOW]
    choice = choose([*searched, *worse])
    assert choice is not None
    assert (choice.seeds, choice.mean) == (SEEDS, pytest.approx(0.6))
    assert window_of([*searched, *worse]) == window_of(searched)
    early = choose(searched)
    assert early is not None
    assert len(early.seeds) == 1
