"""One contract, every task (DESIGN.md rule 5)."""

import math
from typing import Any

import numpy as np
import pytest

from recollect.spec import TASKS
from recollect.tasks import IGNORED, Batch, Task, build_task
from recollect.tasks.recall import Recall
from recollect.tasks.streams import generator
from recollect.tasks.strings import BEGIN, END, PAD, Strings
from tests.support.task_rows import ORACLES, ROWS, label

every_task = pytest.mark.parametrize(("name", "options"), ROWS, ids=label)


def sets(task: Task) -> list[Batch]:
    """Training rows and every evaluation."""
    return [task.draw(generator(0, "data"), 100), *(task.evaluation(name, 0)[:100] for name in task.evaluations())]


def test_every_task_has_a_row_and_an_oracle() -> None:
    assert {name for name, _ in ROWS} == set(ORACLES) == set(TASKS)


@every_task
def test_the_oracle_answers_every_target_from_the_tokens_before_it(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    for batch in sets(task):
        for tokens, at, target in zip(batch.tokens.tolist(), batch.at.tolist(), batch.target.tolist(), strict=True):
            asked = [(a, t) for a, t in zip(at, target, strict=True) if t != IGNORED]
            assert asked
            assert [ORACLES[name](tokens[: a + 1], task) for a, _ in asked] == [t for _, t in asked]


@every_task
def test_tokens_answers_and_positions_stay_in_their_bounds(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    for batch in sets(task):
        asked = batch.target != IGNORED
        assert {part.dtype for part in (batch.tokens, batch.at, batch.target)} == {np.dtype(np.int32)}
        assert batch.at.shape == batch.target.shape
        assert batch.tokens.min() >= 0
        assert batch.tokens.max() < task.vocab_size
        assert batch.tokens.shape[1] <= task.length
        assert batch.target[asked].min() >= 0
        assert batch.target.max() < task.vocab_size
        assert batch.at.min() >= 0
        assert batch.at.max() < batch.tokens.shape[1]
        assert all(len(set(at[known])) == known.sum() for at, known in zip(batch.at, asked, strict=True))


@every_task
def test_nothing_but_answers_is_asked(name: str, options: dict[str, Any]) -> None:
    """Recall asks at repeated keys; strings ask for all that follows the question, up to the full stop."""
    task = build_task(name, **options)
    for batch in sets(task):
        for tokens, at, target in zip(batch.tokens, batch.at, batch.target, strict=True):
            asked = at[target != IGNORED]
            if isinstance(task, Recall):
                assert asked.min() >= 2 * options["n_pairs"]
                assert not (asked % 2).any()
            elif isinstance(task, Strings):
                assert np.array_equal(tokens[asked + 1], target[target != IGNORED])
                assert (tokens == END).sum() == (target == END).sum() == (tokens == BEGIN).sum()


@every_task
def test_no_position_gives_its_answer_away(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    counts = np.zeros((task.length, task.vocab_size))
    fit, held = (task.draw(generator(0, stream), 4000) for stream in ("data", "test"))
    known = fit.target != IGNORED
    np.add.at(counts, (fit.at[known], fit.target[known]), 1)
    known = held.target != IGNORED
    guess = counts.argmax(1)[held.at[known]]
    assert np.mean(guess == held.target[known]) <= max(task.answer_floors().values()) + 0.02


@every_task
def test_streams_are_separate_and_repeatable(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    draws = [task.draw(generator(0, *stream), 20).tokens for stream in (("data", 0), ("data", 1), ("test", 0))]
    assert not np.array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert np.array_equal(draws[0], task.draw(generator(0, "data", 0), 20).tokens)
    for evaluation in task.evaluations():
        one, again, other = (task.evaluation(evaluation, seed) for seed in (0, 0, 1))
        assert np.array_equal(one.tokens, again.tokens)
        assert np.array_equal(one.target, again.target)
        assert not np.array_equal(one.tokens, other.tokens)
    same = [task.evaluation(evaluation, 0)[:50].tokens for evaluation in ("validation", "test")]
    assert not np.array_equal(*same)
    with pytest.raises(KeyError):
        task.evaluation("length=7777", 0)


@every_task
def test_floors_and_plateaus_are_sane(name: str, options: dict[str, Any]) -> None:
    task = build_task(name, **options)
    for floors in (task.floors(), task.answer_floors()):
        assert all(0 < floor < 0.7 for floor in floors.values())
    assert task.plateaus()["ln V"] == math.log(task.vocab_size)
    assert all(0 < level <= math.log(task.vocab_size) for level in task.plateaus().values())


@every_task
def test_a_part_of_a_batch_keeps_what_belongs_together(name: str, options: dict[str, Any]) -> None:
    batch = build_task(name, **options).draw(generator(0, "data"), 6)
    part = batch[np.array([4, 1])]
    assert len(part) == 2
    for whole, some in ((batch.tokens, part.tokens), (batch.at, part.at), (batch.target, part.target)):
        assert np.array_equal(some, whole[[4, 1]])
    assert (batch.string is None) == (not isinstance(build_task(name, **options), Strings))
    if batch.string is not None and part.string is not None:
        assert np.array_equal(part.string, batch.string[[4, 1]])
        known = batch.target != IGNORED
        assert all(row.max() + 1 == (t == END).sum() for row, t in zip(batch.string, batch.target, strict=True))
        assert all((np.diff(row[k]) >= 0).all() for row, k in zip(batch.string, known, strict=True))
        assert (batch.tokens != PAD).any()
