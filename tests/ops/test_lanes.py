"""Lanes: sixteen numbers at once give what numpy gives."""

from typing import Any

import numpy as np
import pytest
from numba import njit

from recollect.ops.lanes import WIDTH, lanes, power_of_two, put, total, zeros_like

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@njit
def _combine(x: Any, y: Any, number: float, made: Any) -> Any:
    product = lanes(x, (1, 2)) * lanes(y, (3,)) - number
    put(made, (1,), 2 * product + lanes(y, (0,)) + zeros_like(y))
    return total(product)


@dtypes
def test_they_are_read_computed_with_written_and_summed(dtype: type) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, WIDTH + 5)).astype(dtype), np.arange(WIDTH + 3, dtype=dtype)
    made = np.full(WIDTH + 2, 7, dtype)
    found = _combine(x, y, 0.5, made)
    product = x[1, 2 : 2 + WIDTH] * y[3:] - dtype(0.5)
    near = {"rtol": 1e-5 if dtype == np.float32 else 1e-14}
    np.testing.assert_allclose(made[1:-1], 2 * product + y[:WIDTH], **near)
    assert made[0] == made[-1] == 7
    assert found == pytest.approx(product.sum(), rel=near["rtol"])


@njit
def _powers(x: Any, made: Any) -> None:
    for i in range(0, len(x), WIDTH):
        put(made, (i,), power_of_two(lanes(x, (i,))))


def powers(x: Any) -> Any:
    """2^x."""
    made = np.empty_like(x)
    _powers(x, made)
    return made


@dtypes
def test_a_power_of_two_is_accurate_and_exact_at_zero(dtype: type) -> None:
    x = np.linspace(-126, 0, 64_000 * WIDTH).astype(dtype)
    assert np.abs(powers(x) / 2.0 ** x.astype(np.float64) - 1).max() < (3e-7 if dtype == np.float32 else 1e-15)
    assert (powers(np.zeros(WIDTH, dtype)) == 1).all()


def test_a_power_of_two_underflows_to_zero_and_keeps_what_is_no_number() -> None:
    special = np.float32([-127, -1e3, -1e30, -np.inf, np.nan, -1, -2, -100] * 2)
    np.testing.assert_array_equal(powers(special), np.float32([0, 0, 0, 0, np.nan, 0.5, 0.25, 2.0**-100] * 2))
