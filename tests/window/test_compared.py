"""Cells that are compared: few runs where a window is not wider than its reference, more where it may be."""

import math

import pytest

from recollect.spec import RunSpec
from recollect.store import ACCURACY, WINDOW, Record
from recollect.window import ComparedCell, Searches, at_length
from recollect.window.tuned import LONG, USUAL
from tests.support.invented import record_of
from tests.support.small import tiny

SEEDS, SPAN = (0, 42), (1e-4, 1e-1)
PLAIN, CURED = tiny("mamba"), tiny("mamba", train__lr_dynamics=0.1)
Range = tuple[float, float]
MIDDLE, WIDER, NARROWER, NOWHERE = (-2.6, -1.9), (-3.2, -1.6), (-2.4, -2.2), (0.0, 1.0)


def planners() -> tuple[ComparedCell, Searches]:
    """The compared cell, and both as a study has them."""
    cell = ComparedCell.of(CURED, PLAIN, SEEDS, SPAN)
    return cell, Searches((at_length(PLAIN, SEEDS, SPAN), cell), at_once=2)


def ended(spec: RunSpec, cured: Range, plain: Range) -> Record:
    """A run that succeeds in its cell's window."""
    low, high = cured if spec.cell == CURED.cell else plain
    return record_of(spec, 0.995 if low < math.log10(spec.train.lr) < high else 0.2, "partial")


def play(planner: Searches, cured: Range, plain: Range = MIDDLE) -> list[Record]:
    """All runs that are asked for, two under way at once."""
    finished: list[Record] = []
    under_way: list[RunSpec] = []
    while True:
        under_way += list(planner.next(finished, under_way))[: 2 - len(under_way)]
        if not under_way:
            return finished
        finished.append(ended(under_way.pop(0), cured, plain))


def searched(runs: list[Record]) -> list[Record]:
    """The runs of the compared cell's search."""
    return [run for run in runs if run.cell == CURED.cell and run.spec.seed not in SEEDS]


@pytest.mark.parametrize(("cured", "plain"), [(NARROWER, MIDDLE), (NOWHERE, MIDDLE), (NOWHERE, NOWHERE)])
def test_a_window_that_is_not_wider_gets_the_usual_runs(cured: Range, plain: Range) -> None:
    assert len(searched(play(planners()[1], cured, plain))) == USUAL


def test_a_window_that_may_be_wider_is_looked_at_longer() -> None:
    runs = play(planners()[1], WIDER)
    assert USUAL < len(searched(runs)) <= LONG


def test_a_longer_look_keeps_every_worker_busy() -> None:
    cell, both = planners()
    runs = play(both, WIDER)
    plain = [run for run in runs if run.cell == PLAIN.cell]
    known = [*plain, *searched(runs)[:USUAL]]
    alone = Searches((cell,), at_once=2)
    assert len(alone.next(known, [])) == len({spec.id for spec in alone.next(known, [])}) == 2
    assert len(alone.next(known, alone.next(known, [])[:1])) == 1


def test_the_seeds_come_last_at_the_best_rate_once_the_reference_is_known() -> None:
    cell, both = planners()
    runs = play(both, WIDER)
    added = [run for run in runs if run.cell == CURED.cell and run.spec.seed in SEEDS]
    found = cell.long.found(runs)
    assert found is not None
    assert [(run.spec.train.lr, run.spec.seed) for run in added] == [(found.best_lr, seed) for seed in SEEDS]
    assert [cell.tells(run.spec) for run in added] == [ACCURACY] * len(SEEDS)
    assert {cell.tells(run.spec) for run in searched(runs)} == {WINDOW}
    assert sorted(run.id for run in cell.known(runs)) == sorted(run.id for run in runs if run.cell == CURED.cell)
    alone = [run for run in runs if run.cell == CURED.cell][:USUAL]
    assert cell.next(alone, []) == [], "what it is compared with is not known yet"
    assert cell.most(runs) == LONG + len(SEEDS)


def test_a_plan_that_is_taken_up_again_is_over_where_it_was_over() -> None:
    for cured in (WIDER, NARROWER):
        runs = play(planners()[1], cured)
        assert planners()[1].next(runs, []) == []
        assert planners()[0].spent(runs, []) == sum(run.cell == CURED.cell for run in runs)
