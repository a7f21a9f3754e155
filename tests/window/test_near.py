"""A cell of another width waits for the rate that a search finds, then is tried about it."""

import pytest

from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window import Searches, TunedCell
from recollect.window.near import NearCell
from tests.support.small import tiny
from tests.window.test_tuned import SEEDS, SPAN, cell, ended, play

WIDE, NARROW = tiny(), tiny(model__d_model=4)


def near(searched: TunedCell) -> NearCell:
    """The narrow cell beside the usual one."""
    return NearCell(NARROW, searched)


def test_nothing_is_asked_for_before_the_other_search_is_over() -> None:
    runs = play(cell())
    searched = len(runs) - len(SEEDS)
    assert all(not near(cell()).next(runs[:n], []) for n in range(searched))
    assert near(cell()).next(runs[:searched], [])
    assert not near(cell()).next(runs[: searched - 1], [runs[searched - 1].spec])


def test_one_seed_tries_three_rates_about_the_best_and_then_all_the_best_of_them() -> None:
    wide = cell()
    runs = play(Searches((wide, near(wide)), 2))
    found = wide.found(runs)
    assert found is not None
    narrow = [run for run in runs if run.cell == NARROW.cell]
    first = [run.spec.train.lr for run in narrow[:3]]
    assert first == pytest.approx([found.best_lr * 10**x for x in (-0.5, 0.0, 0.5)], rel=1e-4)
    assert {run.spec.seed for run in narrow[:3]} == {SEEDS[0]}
    assert [(run.spec.train.lr, run.spec.seed) for run in narrow[3:]] == [(found.best_lr, seed) for seed in SEEDS[1:]]
    assert near(wide).known(runs) == narrow
    assert near(wide).spent(runs, []) == near(wide).most(runs) == len(narrow)


def test_runs_that_are_there_already_are_used() -> None:
    wide = cell()
    runs = play(Searches((wide, near(wide)), 2))
    assert not near(wide).next(runs, [])
    last = runs[-1]
    assert near(wide).next(runs[:-1], []) == ([last.spec] if last.cell == NARROW.cell else [])


def test_a_failed_search_still_gives_a_rate() -> None:
    wide = TunedCell.of(WIDE, SEEDS, SPAN, 4)
    asked: list[RunSpec] = []
    finished: list[Record] = []
    planner = Searches((wide, near(wide)), 1)
    while wanted := planner.next(finished, []):
        asked += wanted
        finished += [ended(spec, low=0, high=1) for spec in wanted]
    assert len([spec for spec in asked if spec.cell == NARROW.cell]) == 3 + len(SEEDS) - 1
