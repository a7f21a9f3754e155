"""The proof by simulation: cells with known edges, many searches each, against an even grid of equal cost.

The truths (`recollect.window.synthetic`) and these bounds were fixed before the search was tuned. The 90 % intervals of
the edges and of the width must cover the truth; the cell with a hole must be reported as such.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from recollect.window import Reading, Search, Window, measure
from recollect.window.measure import NOT_ONE
from tests.support.synthetic import PATCHY, TRUTHS, Truth, run_even_grid, run_search

WHOLE = [truth for truth in TRUTHS if truth.hole is None]
HOLED = [truth for truth in TRUTHS if truth.hole is not None]


@dataclass(frozen=True)
class Score:
    """One search: whether lower edge, upper edge and width are covered, the edges' mean error, the grid's, the flag."""

    covered: tuple[bool, bool, bool]
    error: float
    grid_error: float
    is_holed: bool


@cache
def score(truth: Truth, max_runs: int, world: int) -> Score:
    search = Search(max_runs=max_runs)
    found = measured(search, run_search(truth, search, world))
    grid = measured(search, run_even_grid(truth, search, max_runs, world))
    return Score(holds(found, truth), error(found, truth), error(grid, truth), NOT_ONE in found.flags)


def measured(search: Search, runs: list[Reading]) -> Window:
    return measure(runs, steps=1, low=search.low, high=search.high)


def holds(found: Window, truth: Truth) -> tuple[bool, bool, bool]:
    """Whether the intervals of lower edge, upper edge and width hold the truth."""
    lower, upper = truth.edges()
    pairs = ((found.lower, lower), (found.upper, upper), (found.width, upper - lower))
    one, other, width = (known is not None and known.low <= value <= known.high for known, value in pairs)
    return one, other, width


def error(found: Window, truth: Truth) -> float:
    """The mean distance of the two edges from the truth, in decades; NaN where no window is found."""
    if found.lower is None or found.upper is None:
        return math.nan
    lower, upper = truth.edges()
    return (abs(found.lower.value - lower) + abs(found.upper.value - upper)) / 2


def coverage(truths: list[Truth], max_runs: int, worlds: range) -> tuple[float, float]:
    """The share of edges' intervals, and of the width's, that hold the truth."""
    covered = np.array([score(truth, max_runs, world).covered for truth in truths for world in worlds])
    return float(covered[:, :2].mean()), float(covered[:, 2].mean())


def ratio(scores: list[Score]) -> float:
    """The mean error of an edge after the search over that after the even grid, where both find a window.

    The search must not find none more often than the grid does.
    """
    errors = np.array([(s.error, s.grid_error) for s in scores])
    missed = np.isnan(errors)
    assert missed[:, 0].sum() <= missed[:, 1].sum()
    ours, grid = errors[~missed.any(1)].mean(0)
    return float(ours / grid)


ALL = range(100)
QUICK = [(truth, world) for world in range(20) for truth in TRUTHS[world % 2 :: 2]]
"""Twenty worlds in `make test`; every truth in ten of them."""


def test_twenty_worlds_hold_what_the_search_promises() -> None:
    whole = [score(truth, 24, world) for truth, world in QUICK if truth in WHOLE]
    assert np.mean([edge for s in whole for edge in s.covered[:2]]) >= 0.87
    assert np.mean([s.covered[2] for s in whole]) >= 0.87
    assert ratio(whole) <= 0.6
    assert np.mean([s.is_holed for s in whole]) <= 0.05
    assert all(score(truth, 24, world).is_holed for truth, world in QUICK if truth in HOLED)


@pytest.mark.parametrize("truth", PATCHY, ids=[truth.name for truth in PATCHY])
def test_a_window_in_which_seeds_fail_is_not_taken_for_a_narrower_one(truth: Truth) -> None:
    search = Search()
    found = [measured(search, run_even_grid(truth, search, 85, world)) for world in range(30)]
    lower, upper = truth.edges()
    assert np.median([known.width.value for known in found if known.width]) == pytest.approx(upper - lower, abs=0.15)
    assert np.mean([holds(known, truth) for known in found]) >= 0.8


@pytest.mark.prove
@pytest.mark.parametrize("max_runs", [24, 40])
class TestHundredSearchesOfEachTruth:
    @pytest.mark.parametrize("truth", WHOLE, ids=[truth.name for truth in WHOLE])
    def test_the_intervals_cover_each_truth(self, truth: Truth, max_runs: int) -> None:
        edges, width = coverage([truth], max_runs, ALL)
        assert edges >= 0.84
        assert width >= 0.84

    def test_the_intervals_cover_the_truth_pooled(self, max_runs: int) -> None:
        edges, _ = coverage(WHOLE, max_runs, ALL)
        assert 0.87 <= edges <= 0.97

    def test_the_intervals_cover_the_truth_where_seeds_fail_inside(self, max_runs: int) -> None:
        edges, width = coverage(list(PATCHY), max_runs, ALL)
        assert edges >= 0.84
        assert width >= 0.84

    def test_the_edges_are_nearer_than_an_even_grid_gets_at_equal_cost(self, max_runs: int) -> None:
        assert ratio([score(truth, max_runs, world) for truth in WHOLE for world in ALL]) <= 0.6

    def test_a_hole_is_reported_where_there_is_one_and_seldom_elsewhere(self, max_runs: int) -> None:
        for truths, low, high in ((HOLED, 0.9, 1.0), (WHOLE, 0.0, 0.05)):
            share = np.mean([score(truth, max_runs, world).is_holed for truth in truths for world in ALL])
            assert low <= share <= high
