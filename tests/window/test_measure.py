"""The measure: from runs to edges, width, flags and words."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from recollect.errors import BadInput
from recollect.spec.rates import on_lattice
from recollect.window import Reading, Window, even_grid_runs, measure, sensitivity, surely_widened, surely_wider, wider
from recollect.window.curve import FULL, GUESS, TOPS, crossings
from recollect.window.measure import (
    BEST_AT_EDGE,
    ELSEWHERE,
    NEVER,
    NOT_ONE,
    OPEN_LEFT,
    OPEN_RIGHT,
    PATCHY,
    PERHAPS,
    RARELY,
    SURE,
)
from recollect.window.posterior import SLOPES, Mesh, Posterior, after, fit, prior
from recollect.window.reading import Rate, rates

RUNS = ((-3.6, False), (-3.2, True), (-2.9, True), (-3.3, False), (-2.6, False))
FOUND = [Rate(10**x, int(solved), 1, float(solved)) for x, solved in sorted(RUNS)]


def p(x: float, top: float, a: float, u: float, b: float, v: float) -> float:
    """The success curve, as plain as the equation."""
    return GUESS + (top - GUESS) / ((1 + math.exp((a - x) / u)) * (1 + math.exp((x - b) / v)))


def made(pattern: dict[float, str]) -> list[Reading]:
    """log10 lr -> one letter a seed: s for success, f for failure."""
    runs = [(x, letter) for x, letters in pattern.items() for letter in letters]
    return [Reading(on_lattice(x), seed, 1.0 if letter == "s" else 0.2) for seed, (x, letter) in enumerate(runs)]


def window(pattern: dict[float, str]) -> Window:
    return measure(made(pattern), steps=2000)


CLEAR = {-5.0: "ff", -4.5: "ff", -4.0: "ss", -3.5: "ss", -3.0: "ss", -2.5: "ff", -2.0: "ff", -1.5: "ff"}


def test_crossings_are_where_the_curve_is_one_half() -> None:
    for top, gap, u, v in itertools.product(dict(TOPS), (0.1, 0.3, 1.0), SLOPES, SLOPES):
        below, above = map(float, crossings(*map(np.array, (top, gap, u, v))))
        peak = max(p(x, top, 0.0, u, gap, v) for x in np.linspace(0, gap, 100))
        if math.isnan(below):
            assert math.isnan(above)
            assert peak < 0.501
        else:
            assert peak > 0.499
            assert below <= gap - above
            assert p(below, top, 0.0, u, gap, v) == pytest.approx(0.5, abs=1e-6)
            assert p(gap - above, top, 0.0, u, gap, v) == pytest.approx(0.5, abs=1e-6)


def test_the_posterior_is_the_plain_product_over_curves_and_runs() -> None:
    posterior = fit(Mesh(-3.5, -2.5, 0.25), FOUND)
    left, right = posterior.left, posterior.right
    largest = float(prior(posterior.grid, TOPS).mass.max())
    for i, j in itertools.product(range(0, len(left.place), 7), range(0, len(right.place), 7)):
        top, share = next(known for known in TOPS if abs(left.height[i] + GUESS - known[0]) < 1e-6)
        curve = (top, left.place[i], left.slope[i], right.place[j], right.slope[j])
        likely = math.prod(p(x, *curve) if solved else 1 - p(x, *curve) for x, solved in RUNS)
        before = largest * share / max(dict(TOPS).values())
        weight = likely / math.exp(posterior.log_evidence) * before
        expected = weight if left.place[i] <= right.place[j] else 0.0
        assert posterior.mass[i, j] == pytest.approx(expected, rel=1e-3, abs=1e-8)


def test_the_order_of_the_runs_does_not_matter() -> None:
    grid = Mesh(-4.0, -2.0)
    one, other = after(grid, RUNS, FULL), after(grid, RUNS[::-1], FULL)
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-4)
    assert fit(grid, FOUND, FULL).success(-3.0) == pytest.approx(one.success(-3.0), abs=1e-4)


def test_many_runs_at_one_rate_count_one_by_one() -> None:
    found = [Rate(10**-3.5, 13, 37, 0.5), Rate(10**-2.5, 30, 30, 1.0), Rate(10**-1.5, 0, 50, 0.0)]
    before = prior(Mesh(-4, -1), TOPS)
    with np.errstate(divide="ignore"):
        weight = np.log(before.mass.astype(float))
    for rate in found:
        left, right = before.factors(np.asarray(rate.x))
        success = GUESS + np.multiply.outer(left.astype(float), right)
        weight += rate.solved * np.log(success) + rate.failed * np.log1p(-success)
    exact = replace(before, mass=np.exp(weight - weight.max()) / np.exp(weight - weight.max()).sum())
    fitted = fit(before.grid, found)
    for x in (-3.8, -3.2, -1.9):
        assert fitted.success(x) == pytest.approx(exact.success(x), rel=1e-3)


def test_any_number_of_seeds_can_be_measured() -> None:
    assert window({-4.0: "f" * 300, -3.0: "s" * 300, -2.5: "f" * 150 + "s" * 150, -2.0: "f" * 300}).width is not None


def test_a_run_more_costs_an_update_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[float] = []
    updated = Posterior.updated

    def counted(self: Posterior, x: float, solved: float, failed: float) -> Posterior:
        updates.append(x)
        return updated(self, x, solved, failed)

    monkeypatch.setattr(Posterior, "updated", counted)
    grid, runs = Mesh(-4.03, -1), tuple((-4 + i / 100, 50 < i < 150) for i in range(200))
    after(grid, runs[:-1])
    assert len(updates) == len(runs) - 1
    after(grid, runs)
    after(grid, runs)
    assert len(updates) == len(runs)


def test_information_is_the_expected_drop_of_the_entropies_of_both_places() -> None:
    posterior = after(Mesh(-3.5, -2.5, 0.1), RUNS)

    def entropy(mass: np.ndarray) -> float:
        places = (posterior.left.by_place(mass.sum(1)), posterior.right.by_place(mass.sum(0)))
        return sum(-float(np.sum(q * np.log(np.maximum(q, 1e-30)))) for q in places)

    for x in (-3.4, -3.0, -2.7):
        left, right = (factor.astype(float) for factor in posterior.factors(np.asarray(x)))
        success = GUESS + np.multiply.outer(left, right)
        expected = entropy(posterior.mass)
        for likely in (success, 1 - success):
            mass = posterior.mass * likely
            expected -= mass.sum() * entropy(mass / mass.sum())
        assert posterior.information(np.array([x]))[0] == pytest.approx(expected, abs=1e-3)


def test_many_runs_give_the_edges_to_within_the_grid() -> None:
    x = np.arange(-200, -39, 2) / 40
    found = window({float(at): "ssssss" if -3.63 < at < -2.21 else "ffffff" for at in x})
    assert found.lower is not None
    assert found.upper is not None
    assert found.width is not None
    assert found.lower.value == pytest.approx(-3.63, abs=0.03)
    assert found.upper.value == pytest.approx(-2.21, abs=0.03)
    assert found.lower.high - found.lower.low < 0.08
    assert found.width.low < 1.42 < found.width.high
    assert found.flags == ()
    assert found.inside[0] == found.inside[1]


def test_solve_rates_are_counted_at_the_threshold() -> None:
    runs = [Reading(1e-3, 0, 0.89), Reading(1e-3, 1, 0.95), Reading(1e-4, 2, 0.9)]
    assert rates(runs, 0.9) == [Rate(1e-4, 1, 1, 0.9), Rate(1e-3, 1, 2, pytest.approx(0.92))]
    assert rates(runs, 0.99) == [Rate(1e-4, 0, 1, 0.9), Rate(1e-3, 0, 2, pytest.approx(0.92))]


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({-5.0: "ss", -4.5: "ss"}, OPEN_LEFT),
        ({-2.5: "ss", -2.0: "ss", -1.5: "ss"}, OPEN_RIGHT),
        ({-4.0: "ff", -3.5: "ff", -3.0: "ff"}, NEVER),
        ({-4.0: "ff", -3.5: "sfffff", -3.0: "ff"}, RARELY),
        ({-4.0: "ff", -3.5: "sf", -3.0: "ff"}, PERHAPS),
        ({-2.5: "ffff", -2.0: "ssss", -1.5: "ssss"}, NOT_ONE),
        ({-3.7: "sfs", -3.6: "fs", -3.5: "ssfsf", -3.4: "sf", -3.3: "sfs"}, PATCHY),
    ],
)
def test_what_a_reader_must_know_is_flagged(changes: dict[float, str], flag: str) -> None:
    assert window(CLEAR).flags == ()
    found = window(CLEAR | changes)
    assert flag in found.flags
    assert flag in str(found)
    assert (found.width is None) == (flag in (NEVER, RARELY))


LUCKY = "-4.93 -4.65 -4.37 -4.02 -3.75 -3.57 -3.45 -3.25 -3.15 -3.15 -3.10 -3.08 -3.00 -2.78 -2.50 -2.20 -1.88 -1.57"
"""Where a search looked around its only success, at -3.13, and everywhere else."""


def test_edges_that_hold_no_success_are_no_window() -> None:
    failed = [Reading(on_lattice(float(x)), seed, 0.5) for seed, x in enumerate(LUCKY.split())]
    found = measure([*failed, Reading(on_lattice(-3.13), 99, 1.0)], steps=2000, low=1e-5, high=1.0)
    assert found.none < SURE
    assert found.width is None
    assert RARELY in found.flags
    assert found.centres == ()
    assert np.mean(np.array(found.widths) == 0) == pytest.approx(found.none, abs=0.01)


def test_a_success_beyond_both_edges_is_told() -> None:
    lone = dict.fromkeys((-4.6, -4.4, -4.2, -3.6, -3.4), "f") | {-4.0: "s"}
    assert ELSEWHERE not in window(CLEAR).flags
    island = window(
        lone | {-3.2 + i / 10: "ff" for i in range(8)} | {-2.4 + i / 10: "ss" for i in range(8)} | {-1.5: "ff"}
    )
    assert ELSEWHERE in island.flags


def test_the_best_lr_is_flagged_at_the_edge_of_the_grid() -> None:
    runs = made(CLEAR)
    assert measure(runs, steps=2000).best_lr == on_lattice(-3.5)
    better = [*runs, Reading(1e-1, 99, 1.1)]
    assert BEST_AT_EDGE in measure(better, steps=2000).flags


def test_an_open_edge_has_no_bound() -> None:
    found = window(CLEAR | {-5.0: "ss", -4.5: "ss"})
    assert found.lower is not None
    assert found.width is not None
    assert (found.lower.low, found.width.high) == (-math.inf, math.inf)
    assert "or more" in str(found)
    assert even_grid_runs(found) is None


def test_what_lies_beyond_the_range_is_no_known_width() -> None:
    """The window begins at its lowest rate or below; of one decade to the last success the runs are sure, no more."""
    found = window({-4.0: "s", -3.75: "s", -3.5: "s", -3.25: "s", -3.0: "s", -2.0: "f", -1.5: "f", -1.0: "f"})
    closed = window({x: "sss" if -4.5 <= x <= -3.4 else "fff" for x in np.arange(-50, -9) / 10})
    assert found.width is not None
    assert found.width.low == pytest.approx(1.0, abs=0.05)
    assert max(found.widths) <= 3.0 + 0.05
    assert surely_wider(found, closed)[0] < 0.9


def test_a_hole_is_named_and_the_edges_stay_outermost() -> None:
    found = window({x: "sss" if x in (-4.0, -3.5, -2.5, -2.0) else "fff" for x in np.arange(-10, -1) / 2})
    assert found.holes == ((pytest.approx(-3.0), pytest.approx(-3.0)),)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower.value < -4
    assert found.upper.value > -2
    assert found.failing == pytest.approx(0.5)  # from halfway to the success before it to halfway to that behind it
    assert "not one interval: fails at lr 0.001" in str(found)


def test_the_words_name_the_budget_the_threshold_and_the_runs() -> None:
    text = str(measure(made(CLEAR), steps=2000, threshold=0.95))
    for word in ("at 2,000 steps", "accuracy >= 0.95", "16 runs at 8 learning rates", "1e-05 to 0.0316", "best lr"):
        assert word in text
    assert "\n" not in text


def test_sensitivity_is_the_mean_excess_over_the_log_range() -> None:
    uneven = [
        Reading(1e-4, 0, 0.0, loss=2.0, first_loss=4.0),
        Reading(1e-3, 0, 0.0, loss=1.0, first_loss=4.0),
        Reading(1e-3, 1, 0.0, loss=0.0, first_loss=4.0),
        Reading(1e-1, 0, 0.0, loss=None, first_loss=4.0),
    ]
    assert sensitivity(uneven) == pytest.approx(((2.0 + 0.5) / 2 + 2 * (0.5 + 4.0) / 2) / 3 - 0.5)
    worse = [*uneven[:3], Reading(1e-1, 0, 0.0, loss=50.0, first_loss=4.0)]
    assert sensitivity(worse) == sensitivity(uneven)
    assert sensitivity([Reading(1e-3, 0, 1.0)]) is None


def test_one_window_is_wider_than_another_with_a_probability() -> None:
    wide, narrow = window(CLEAR), window(CLEAR | {-3.0: "ff"})
    never = window(dict.fromkeys(CLEAR, "f"))
    assert wider(wide, wide) == pytest.approx(0.5)
    assert wider(wide, narrow) == pytest.approx(1 - wider(narrow, wide))
    assert wider(wide, narrow) > 0.8
    assert 0.95 < wider(narrow, never) < 1
    assert wider(never, never) == pytest.approx(0.5)


def test_runs_that_all_fail_may_have_missed_a_window_and_more_of_them_less_so() -> None:
    tested = [np.linspace(-4, -1, n) for n in (4, 13, 40)]
    missed = [measure([Reading(10.0**x, 1, 0.2) for x in found], steps=2000) for found in tested]
    assert all(one.width is None for one in missed)
    likely = [surely_widened(window(CLEAR), one, 1.0)[0] for one in missed]
    assert likely == sorted(likely)
    assert likely[0] < 0.9 < likely[-1]


def test_a_window_that_there_may_not_be_has_an_interval_down_to_zero() -> None:
    doubtful, clear = window(CLEAR | {-4.0: "ff", -3.5: "sf", -3.0: "ff"}), window(CLEAR)
    assert doubtful.width is not None
    assert doubtful.width.low == 0 < doubtful.width.value
    assert 0.1 < np.mean(np.array(doubtful.widths) == 0) < 0.9
    assert min(clear.widths) > 0


def test_nothing_to_measure_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no finished run"):
        measure(made(CLEAR), steps=2000, low=0.5, high=1.0)


def test_one_run_is_enough_to_say_little() -> None:
    found = window({-3.0: "s"})
    assert {OPEN_LEFT, OPEN_RIGHT, BEST_AT_EDGE, PERHAPS} == set(found.flags)
    assert "From 1 run at" in str(found)
