"""The seeds go to the best rate, and to the best of Zoology's four where these are a part of the grid."""

import pytest

from recollect.spec import RunSpec
from recollect.spec.protocols import ZOOLOGY
from recollect.store import Record
from recollect.window.best import BestRate
from tests.support.invented import record_of
from tests.support.small import tiny

SEEDS = (1, 2, 3)
FINE = (*ZOOLOGY.lrs, 1e-3, 4.73e-3)


def specs(lrs: tuple[float, ...]) -> list[RunSpec]:
    """A cell: every rate with every seed."""
    return [tiny(train__lr=lr, seed=seed) for seed in SEEDS for lr in lrs]


def play(plan: BestRate, best: tuple[float, ...]) -> list[Record]:
    """All runs that are asked for, one at a time; `best` are the rates by rank, the best first."""
    runs: list[Record] = []
    while wanted := plan.next(runs, []):
        lr = wanted[0].train.lr
        runs.append(record_of(wanted[0], 0.9 - best.index(lr) / 10 if lr in best else 0.1, "partial"))
        assert plan.count(runs) == len(runs) + len(plan.left(runs))
    return runs


@pytest.mark.parametrize(
    ("lrs", "best", "seeded"),
    [
        (FINE, (1e-3, 1e-2), {1e-3, 1e-2}),
        (FINE, (2.15e-3, 1e-3), {2.15e-3}),
        (ZOOLOGY.lrs, (1e-2,), {1e-2}),
        ((1e-3, 1e-2), (1e-3, 1e-2), {1e-3}),
    ],
)
def test_which_rates_get_the_other_seeds(lrs: tuple[float, ...], best: tuple[float, ...], seeded: set[float]) -> None:
    plan = BestRate(specs(lrs))
    runs = play(plan, best)
    first = [(lr, SEEDS[0]) for lr in lrs]
    others = [(lr, seed) for seed in SEEDS[1:] for lr in sorted(seeded)]
    found = [(run.spec.train.lr, run.spec.seed) for run in runs]
    assert found[: len(lrs)] == first
    assert sorted(found[len(lrs) :]) == sorted(others)
    assert plan.count([]) == len(lrs) + (4 if set(lrs) > set(ZOOLOGY.lrs) else 2), "at most"
    assert plan.count(runs) == len(runs)
    assert not plan.left(runs)
