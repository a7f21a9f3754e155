"""Recall: what its rows look like, and their statistics."""

import math
from typing import Any

import numpy as np
import pytest

from recollect.tasks import IGNORED, Batch, Supply, build_task
from recollect.tasks.recall import position_odds
from recollect.tasks.streams import generator
from tests.support.task_rows import RECALL, SMALL, label

every_recall = pytest.mark.parametrize(("name", "options"), RECALL, ids=label)


@every_recall
def test_keys_and_values_are_distinct_and_every_key_is_asked_once(name: str, options: dict[str, Any]) -> None:
    batch = build_task(name, **options).draw(generator(0, "data"), 200)
    K = options["n_pairs"]
    for tokens, at in zip(batch.tokens.tolist(), batch.at.tolist(), strict=True):
        assert len(set(tokens[0 : 2 * K])) == 2 * K
        if name == "mqar":
            assert sorted(tokens[a] for a in at) == sorted(tokens[0 : 2 * K : 2])


@every_recall
def test_the_split_of_the_vocabulary_is_kept(name: str, options: dict[str, Any]) -> None:
    batch = build_task(name, **options).draw(generator(0, "data"), 300)
    V, K = options["vocab_size"], options["n_pairs"]
    keys, values = batch.tokens[:, 0 : 2 * K : 2], batch.tokens[:, 1 : 2 * K : 2]
    assert keys.min() >= 1
    if options.get("vocabulary") == "split":
        assert keys.max() < V // 2
        assert values.min() >= V // 2
    else:
        assert keys.max() >= V // 2 or V > 5000


@pytest.mark.parametrize(("name", "options"), [row for row in RECALL if "random" not in row[1].get("filler", "")])
def test_no_answer_stands_behind_the_pairs_where_filler_is_zero(name: str, options: dict[str, Any]) -> None:
    batch = build_task(name, **options).draw(generator(0, "data"), 200)
    for tokens, target in zip(batch.tokens, batch.target, strict=True):
        assert not set(tokens[2 * options["n_pairs"] :].tolist()) & set(target.tolist())


@every_recall
def test_the_floors_and_plateaus_of_recall(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    floors, plateaus = task.floors(), task.plateaus()
    assert floors["1/K"] == 1 / options["n_pairs"]
    assert floors["1/K"] <= floors["position only"] + 1e-5
    assert floors["position only"] < 0.6
    assert plateaus["ln K"] == math.log(options["n_pairs"])
    assert ("ln(V/2)" in plateaus) == (options.get("vocabulary") == "split")


def test_clean_filler_never_repeats_a_live_key_and_dirty_filler_does() -> None:
    for filler, expected in (("random-clean", 0), ("random", None)):
        task = build_task("mqar", vocab_size=1024, length=256, n_pairs=32, filler=filler)
        batch = task.draw(generator(0, "data"), 100)
        tokens = batch.tokens.copy()
        np.put_along_axis(tokens, batch.at.astype(np.int64), -1, 1)
        repeats = sum(len(set(row[:64:2].tolist()) & set(row[64:].tolist())) for row in tokens)
        assert repeats == expected if expected is not None else repeats > 0


def test_gaps_follow_the_power_law() -> None:
    task = build_task("mqar", vocab_size=8192, length=64, n_pairs=4)
    at = task.draw(generator(3, "data"), 40_000).at
    first = (at[:, 0] - 8) // 2
    weight = np.arange(1, 29) ** (0.01 - 1)
    expected = 40_000 * weight / weight.sum()
    seen = np.bincount(first, minlength=28)
    chi2 = ((seen - expected) ** 2 / expected).sum()
    assert chi2 < 27 + 5 * math.sqrt(2 * 27)


@pytest.mark.parametrize(("length", "n_pairs", "floor", "loss"), [(32, 8, 0.220, 1.94), (64, 4, 0.292, 1.375)])
def test_the_position_only_floor_is_what_the_best_guesser_reaches(
    length: int, n_pairs: int, floor: float, loss: float
) -> None:
    task = build_task("mqar", vocab_size=1024, length=length, n_pairs=n_pairs)
    fit, held = (task.draw(generator(0, stream), 150_000).at for stream in ("data", "test"))
    slots = (length - 2 * n_pairs) // 2
    counts = np.zeros((slots, n_pairs))
    for j in range(n_pairs):
        counts[:, j] = np.bincount((fit[:, j] - 2 * n_pairs) // 2, minlength=slots)
    best = counts.argmax(1)
    # A guesser fitted on some rows does worse than the best on new rows, and better than it on its own rows.
    below, above = (np.mean(best[(at - 2 * n_pairs) // 2] == np.arange(n_pairs)) for at in (held, fit))
    assert below - 0.001 < task.floors()["position only"] < above + 0.001
    assert above - below < 0.006
    assert task.floors()["position only"] == pytest.approx(floor, abs=0.005)
    assert task.position_loss() == pytest.approx(loss, abs=0.01)


def test_position_odds_are_probabilities() -> None:
    for slots, draws in ((8, 8), (28, 4), (192, 64), (1, 1)):
        odds = position_odds(slots, draws, 0.01)
        np.testing.assert_allclose(odds.sum(0), 1, atol=1e-4)
        assert odds.min() > -1e-9
        assert odds.sum(1).max() < 1 + 1e-4


def test_a_fixed_set_is_seen_once_an_epoch_in_a_new_order() -> None:
    task = build_task("mqar", **SMALL, rows=50)
    supply = Supply(task, seed=1, batch_size=16)
    epochs = [[supply.batch(4 * epoch + step).tokens for step in range(4)] for epoch in range(2)]
    assert [len(part) for part in epochs[0]] == [16, 16, 16, 2]
    rows = [sorted(map(tuple, np.concatenate(epoch).tolist())) for epoch in epochs]
    assert rows[0] == rows[1]
    assert not np.array_equal(epochs[0][0], epochs[1][0])
    assert len(Batch(*(np.zeros((2, 2), np.int32),) * 3)) == 2
    still = Supply(build_task("mqar", **SMALL, rows=50, shuffle=False), seed=1, batch_size=16)
    assert np.array_equal(still.batch(0).tokens, still.batch(4).tokens)
    assert IGNORED == -100
