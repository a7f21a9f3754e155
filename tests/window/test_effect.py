"""Does a change widen a window or shift it? Worlds in which the answer is known."""

import math
from dataclasses import replace
from functools import cache

import pytest

from recollect.window import Window, effect, measure, surely_widened, surely_wider, wider
from recollect.window.effect import shift, widening
from recollect.window.search import Search
from tests.support.synthetic import Truth, run_search

SEARCH = Search(1e-5, 1e-1, max_runs=24)
BEFORE = Truth("before", -3.2, -2.4, 0.05, 0.05)
WORLDS = range(4)


@cache
def window(truth: Truth, world: int, search: Search = SEARCH) -> Window:
    """What a search finds in a world."""
    seen = run_search(truth, search, world)
    return measure(seen, steps=100, low=search.low, high=search.high)


def moved(left: float, right: float) -> Truth:
    """The window with its edges moved by so many decades."""
    return replace(BEFORE, name=f"moved {left} {right}", a=BEFORE.a + left, b=BEFORE.b + right)


MOVES = [(-0.4, 0.4, 0.0, 0.8), (0.5, 0.5, 0.5, 0.0), (0.0, 0.6, 0.3, 0.6), (0.2, -0.2, 0.0, -0.4)]
SURE = 0.9


@pytest.mark.parametrize(("left", "right", "by", "more"), MOVES)
def test_shift_and_widening_are_those_of_the_world(left: float, right: float, by: float, more: float) -> None:
    held = 0
    for world in WORLDS:
        found = effect(window(moved(left, right), world), window(BEFORE, world + 100), 0.9, 0.95)
        assert found.shift is not None
        for change, truth in ((found.shift, by), (found.widening, more)):
            assert change.decades.value == pytest.approx(truth, abs=0.3)
            held += change.decades.low <= truth <= change.decades.high
            least, greatest = change.above
            assert least == greatest
            if abs(truth) >= 0.4:
                assert (least > SURE) == (truth > 0)
                assert (least < 1 - SURE) == (truth < 0)
        assert found.loss == pytest.approx(0.05)
    assert held >= 0.75 * 2 * len(WORLDS)


def test_a_hole_is_no_width() -> None:
    islands = replace(BEFORE, name="islands", a=-4.2, b=-1.8, hole=(-3.9, -2.1))
    broken, plain = window(islands, 0, replace(SEARCH, max_runs=40)), window(BEFORE, 100)
    assert broken.holes
    assert broken.failing == pytest.approx(1.7, abs=0.3)
    assert wider(broken, plain) < 0.5 < wider(window(replace(islands, hole=None), 0), plain)
    assert widening(broken, plain).decades.value < 0
    assert surely_widened(broken, plain, 0.3)[1] < 0.05
    assert surely_wider(broken, plain)[1] < 0.5


def test_the_shift_of_an_open_window_is_no_more_than_its_runs_tell() -> None:
    """A quarter of a decade down at the left, at the right from just inside the range to somewhere beyond."""
    narrow = Search(1e-4, 1e-2, max_runs=24)
    before, after = replace(BEFORE, b=-2.15), replace(BEFORE, name="open", a=BEFORE.a - 0.25, b=-1.0)
    found = [shift(window(after, world, narrow), window(before, world + 100, narrow)) for world in WORLDS]
    for one in found:
        assert one is not None
        assert one.decades.value == pytest.approx((-0.25 + 0.15) / 2, abs=0.12)
        assert one.decades.high == math.inf
    assert sum(one.decades.value for one in found if one) < 0


def test_the_same_window_is_as_likely_wider_as_narrower() -> None:
    one = window(BEFORE, 0)
    assert widening(one, one).above == (pytest.approx(0.5), pytest.approx(0.5))
    same = shift(one, one)
    assert same is not None
    assert same.above == (pytest.approx(0.5), pytest.approx(0.5))
    assert same.decades.low == pytest.approx(-same.decades.high, abs=1e-6)


def test_widening_agrees_with_the_comparison_of_windows() -> None:
    one, other = window(moved(-0.2, 0.1), 3), window(BEFORE, 4)
    assert widening(one, other).above == pytest.approx(surely_wider(one, other))
    assert surely_widened(one, other, 0.0) == pytest.approx(surely_wider(one, other), abs=1e-3)
    assert surely_widened(one, other, 5.0) == (0.0, 0.0)
    assert surely_widened(one, other, -5.0) == (1.0, 1.0)


def test_what_lies_beyond_the_range_decides_nothing() -> None:
    closed, open_right = window(BEFORE, 0), window(moved(0.0, 3.0), 1)
    wider, narrower = widening(open_right, closed), widening(closed, open_right)
    assert math.isinf(wider.decades.high)
    assert wider.above[1] == 1
    assert wider.above[0] > 0.95
    assert math.isinf(narrower.decades.low)
    assert narrower.above == (0.0, pytest.approx(0.0, abs=0.05))
    up, down = shift(open_right, closed), shift(closed, open_right)
    assert up is not None
    assert down is not None
    assert (math.isinf(up.decades.high), math.isinf(up.decades.low)) == (True, False)
    assert (math.isinf(down.decades.high), math.isinf(down.decades.low)) == (False, True)
    assert up.to_json()["high"] is None


def test_from_no_window_to_one_is_widening_without_a_shift() -> None:
    nothing = window(Truth("nothing", -9.0, -8.5, 0.03, 0.03), 0)
    assert nothing.width is None
    found = effect(window(BEFORE, 0), nothing, 0.99, 0.2)
    assert found.shift is None
    assert found.widening.above == (pytest.approx(1.0, abs=0.01), pytest.approx(1.0, abs=0.01))
    assert found.widening.decades.value == pytest.approx(0.8, abs=0.25)
    assert widening(nothing, nothing).above == (0.5, 0.5)
    assert found.to_json()["shift"] is None


@pytest.mark.parametrize(
    ("accuracy", "words"), [(0.9897, "+0.0%"), (0.9903, "+0.0%"), (0.98, "-1.0%"), (0.995, "+0.5%")]
)
def test_a_loss_that_rounds_to_nothing_has_no_sign(accuracy: float, words: str) -> None:
    same = window(BEFORE, 0)
    assert effect(same, same, accuracy, 0.99).gain == words
