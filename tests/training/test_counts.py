"""What a step asks of a GPU: counted as by hand, and a range that contains both ways of adding it up."""

import pytest

from recollect.training.counts import A100, Work, count_step, gpu_hours
from tests.support.small import tiny


def test_the_matrix_products_of_a_step_are_those_of_the_equations() -> None:
    B, L, D, V, Q = 8, 8, 8, 20, 2
    rows = B * (L + L + Q + Q) * D * D + 2 * B * Q * L * D  # k and v at all rows, q and out at the asked; scores and y
    head = B * Q * D * V
    counted = count_step(tiny(compute__kernel="torch", model__block="mixer")).flops
    assert counted == 2 * 3 * (rows + head)  # forward, and twice as many back


def test_a_range_contains_both_ways_of_adding_up() -> None:
    low, high = Work(19.5e12, 1555e9, 250_000).seconds(A100, "fp32")  # type: ignore[arg-type]
    assert (low, high) == pytest.approx((1.0, 7.0))
    assert Work(156, 0, 0).seconds(A100, "tf32")[0] == Work(19, 0, 0)._replace(flops=19.5).seconds(A100, "fp32")[0]


def test_hours_grow_with_steps_and_evaluations() -> None:
    base, _ = gpu_hours(tiny())
    assert gpu_hours(tiny(train__steps=24))[0] > 1.5 * base
    assert gpu_hours(tiny(train__eval_every=1))[0] > base
