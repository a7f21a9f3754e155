"""Phases and decay: curves made by hand give exactly what was put into them."""

import math

import numpy as np
import pytest

from recollect.inside.decay import by_distance, fitted_length, forgotten, spectrum, to_query
from recollect.inside.phases import joined, lag, phases, rise, told, visits
from recollect.tasks import build_task
from recollect.tasks.streams import generator

LADDER = build_task("mqar", vocab_size=64, length=32, n_pairs=4, vocabulary="split").ladder()

GUESS = "ln K, position only"
"""With 4 pairs no curve can tell them apart."""


def test_the_ladder_goes_down_to_zero() -> None:
    assert list(LADDER) == ["ln V", "ln(V/2)", "ln K", "position only", "0"]
    assert list(LADDER.values()) == sorted(LADDER.values(), reverse=True)
    assert LADDER["ln K"] == math.log(4)
    assert joined(LADDER) == {"ln V": math.log(64), "ln(V/2)": math.log(32), GUESS: math.log(4), "0": 0}


def test_two_plateaus_give_two_visits_and_the_times_between_them() -> None:
    steps = list(range(0, 1001, 10))
    high, low = LADDER["ln(V/2)"], LADDER["ln K"]
    loss = [high if t <= 400 else low if t >= 500 else high + (low - high) * (t - 400) / 100 for t in steps]
    curves = {"step": steps, "validation_loss": loss, "validation_accuracy": [0.1] * len(steps)}
    found = phases(curves, LADDER, floor=0.125)
    assert [(one.name, one.start, one.end) for one in found.visits] == [("ln(V/2)", 0, 400), (GUESS, 500, 1000)]
    (way,) = found.transitions
    assert (way.t10, way.t50, way.t90) == pytest.approx((410, 450, 490))
    assert way.length == pytest.approx(80)
    assert found.bump == way
    assert found.rise is None


def test_a_plateau_that_is_left_upwards_and_found_again_is_no_transition() -> None:
    steps = list(range(0, 101, 10))
    loss = [LADDER["ln K"]] * 4 + [2.0] * 3 + [LADDER["ln K"]] * 4
    found = phases({"step": steps, "validation_loss": loss, "validation_accuracy": [0.1] * 11}, LADDER, floor=0.125)
    assert [(one.start, one.end) for one in found.visits] == [(0, 30), (70, 100)]
    assert found.transitions == []
    assert found.bump is None


def test_a_fall_that_brings_accuracy_is_no_bump_without_it() -> None:
    steps = list(range(0, 101, 10))
    loss = [LADDER["ln K"]] * 5 + [0.0] * 6
    right = [0.1] * 5 + [1.0] * 6
    found = phases({"step": steps, "validation_loss": loss, "validation_accuracy": right}, LADDER, floor=0.125)
    assert [one.name for one in found.visits] == [GUESS, "0"]
    assert found.bump is None
    assert found.rise is not None
    assert (found.rise.t10, found.rise.t50, found.rise.t90) == pytest.approx((41, 45, 49))


def test_passing_a_rung_is_no_visit_and_what_is_not_finite_is_left_out() -> None:
    steps = [0, 10, 20, 30, 40]
    assert [one.name for one in visits(steps, [4.16, 3.0, 1.39, 1.0, None], LADDER)] == []
    assert [one.name for one in visits(steps, [4.16, 4.16, 2.08, 1.0, None], LADDER)] == ["ln V"]
    assert visits([], [], LADDER) == []


def test_the_lag_is_between_the_halves() -> None:
    steps = [0, 10, 20, 30, 40]
    first, second = rise(steps, [0, 1, 1, 1, 1]), rise(steps, [0, 0, 0, 1, 1])
    assert lag(first, second) == pytest.approx(20)
    assert lag(first, rise(steps, [0.5] * 5)) is None


def test_loss_accuracy_and_score_have_lags() -> None:
    steps = [0, 10, 20, 30, 40]
    curves = {"step": steps, "validation_loss": [2, 1, 0, 0, 0], "validation_accuracy": [0, 0, 0, 1, 1]}
    found = phases(curves, LADDER, 0.125, {0: 0.0, 20: 0.0, 40: 0.5})
    assert found.lags == pytest.approx({"loss to accuracy": 15, "loss to score": 20, "accuracy to score": 5})
    assert told(found)[-2:] == [
        "score at the answer: 0.00 to 0.50, t10 22, t50 30, t90 38",
        "lags, half-way to half-way: loss to accuracy +15 steps, loss to score +20 steps, accuracy to score +5 steps",
    ]
    assert phases(curves, LADDER, 0.125).lags == pytest.approx({"loss to accuracy": 15})


def test_a_bump_without_accuracy_is_told() -> None:
    loss = [LADDER["ln(V/2)"]] * 3 + [LADDER["ln K"]] * 3
    found = phases({"step": range(6), "validation_loss": loss, "validation_accuracy": [0.1] * 6}, LADDER, floor=0.125)
    assert told(found)[1:3] == [
        "from plateau to plateau: 3.47 to 1.39, t10 2, t50 2, t90 3",
        "a bump without accuracy: 3.47 to 1.39, t10 2, t50 2, t90 3",
    ]


def test_a_matrix_that_fades_has_the_length_with_which_it_fades() -> None:
    i, j = np.indices((20, 20))
    M = np.tril(np.exp(-(i - j) / 5.0))
    M[:, ::2] *= -1
    assert fitted_length(by_distance(M[None, None])) == pytest.approx(5)
    assert fitted_length(by_distance(np.tril(np.ones((1, 1, 9, 9))))) == math.inf


def test_gradients_are_sorted_by_their_distance_to_the_query() -> None:
    queries = np.array([[4, 6]], np.int32)
    norms = np.exp(-np.abs(queries[..., None] - np.arange(8)) / 3.0)
    norms[np.arange(8) > queries[..., None]] = 99  # the future does not count
    means = to_query(norms, queries)
    assert np.isnan(means[7])
    assert fitted_length(means) == pytest.approx(3)


def test_what_tokens_forget_is_told_by_their_role() -> None:
    task = build_task("mqar", length=8, n_pairs=2, vocab_size=20)
    batch = task.draw(generator(0, "test"), 3)
    places = task.places(batch)
    decays = np.full((3, 8, 2), np.exp(-1.0))
    np.put_along_axis(decays, places.values[..., None].astype(np.int64), np.exp(-3.0), 1)
    found = forgotten(decays, places)
    assert found == pytest.approx({"key": 1, "value": 3, "query": 1, "filler": 1})
    assert spectrum(decays)["50%"] == pytest.approx(np.exp(-1.0))
