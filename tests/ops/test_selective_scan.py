"""The selective scan: every form against the loop, and what the kernels promise."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from numba import njit
from torch import Tensor

from recollect.ops.compiled import exp
from recollect.ops.lanes import WIDTH
from recollect.ops.selective_scan import (
    STEPS,
    selective_scan_loop,
    selective_scan_matrix,
    selective_scan_numba,
    selective_scan_torch,
)

Scan = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 2e-4}
fast_forms = pytest.mark.parametrize("scan", [selective_scan_torch, selective_scan_numba])
dtypes = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def draw(
    batch: int = 2, length: int = 33, width: int = 6, states: int = 5, dtype: torch.dtype = torch.float64
) -> list[Tensor]:
    """x, dt > 0 over four decades, A < 0, B, C and D."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    dt, A = torch.exp(2 * normal(batch, length, width) - 2), -torch.exp(normal(width, states))
    B, C = normal(batch, length, states), normal(batch, length, states)
    made = [normal(batch, length, width), dt, A, B, C, normal(width)]
    return [v.to(dtype).requires_grad_() for v in made]


def outputs_and_gradients(scan: Scan, inputs: list[Tensor]) -> list[Tensor]:
    y = scan(*inputs)
    weights = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(y.dtype)
    return [y.detach(), *torch.autograd.grad((y * weights).sum(), inputs)]


def assert_equal_to_the_loop(scan: Scan, inputs: list[Tensor], seen: Tensor | float = 1.0) -> None:
    """What is seen of it, relative to the largest number of each result, as sums cancel."""
    tolerance = TOLERANCE[inputs[0].dtype]
    copies = [v.detach().double().requires_grad_() for v in inputs]
    judged = outputs_and_gradients(lambda *given: selective_scan_loop(*given) * seen, copies)
    found = outputs_and_gradients(lambda *given: scan(*given) * seen, inputs)
    for ours, judge in zip(found, judged, strict=True):
        assert ours.dtype == inputs[0].dtype
        torch.testing.assert_close(ours.double(), judge, rtol=0, atol=tolerance * judge.abs().max().item())


@fast_forms
@dtypes
@pytest.mark.parametrize("length", [1, 2, 7, STEPS, 33, 2 * STEPS + 1, 70])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_fast_form_equals_the_loop_with_gradients(scan: Scan, dtype: torch.dtype, length: int, batch: int) -> None:
    assert_equal_to_the_loop(scan, draw(batch, length, dtype=dtype))


@fast_forms
@pytest.mark.parametrize("ends", [(1, STEPS, 19), (0, STEPS + 1, 2 * STEPS)])
def test_behind_the_last_question_of_a_row_there_is_no_gradient(scan: Scan, ends: tuple[int, ...]) -> None:
    """Every row has its own; in one of them nothing is asked."""
    asked = torch.arange(19) < torch.tensor(ends).unsqueeze(1)  # (B, L)
    assert_equal_to_the_loop(scan, draw(3, 19), asked.unsqueeze(-1))


@fast_forms
@pytest.mark.parametrize(("width", "states"), [(1, 1), (WIDTH, 16), (WIDTH + 3, 2), (2 * WIDTH + 5, 3)])
def test_any_width_and_number_of_states_will_do(scan: Scan, width: int, states: int) -> None:
    assert_equal_to_the_loop(scan, draw(2, 19, width, states))


def test_the_matrix_times_the_values_is_the_scan() -> None:
    inputs = draw()

    def through_the_matrix(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
        M = selective_scan_matrix(dt, A, B, C, D)
        return (M @ x.transpose(1, 2).unsqueeze(-1)).squeeze(-1).transpose(1, 2)

    assert selective_scan_matrix(*inputs[1:]).triu(1).abs().max() == 0
    assert_equal_to_the_loop(through_the_matrix, inputs)


@pytest.mark.parametrize("scan", [selective_scan_loop, selective_scan_torch, selective_scan_numba])
@dtypes
@pytest.mark.parametrize("dt", [0.0, 1e-30, 1e4, 1e12])
@pytest.mark.parametrize("decay", [1e-12, 1e4])
def test_extreme_steps_and_decays_stay_finite(scan: Scan, dtype: torch.dtype, dt: float, decay: float) -> None:
    inputs = draw(length=70, dtype=dtype)
    with torch.no_grad():
        inputs[1].fill_(dt)[:, ::3] = 1.0
        inputs[2].fill_(-decay)
    for result in outputs_and_gradients(scan, inputs):
        assert result.isfinite().all()


@fast_forms
def test_forgotten_states_leave_no_trace_and_kept_states_do_not_fade(scan: Scan) -> None:
    x, dt, A, B, C, D = (v.detach() for v in draw(1, 40, 1, 1, torch.float32))
    x.fill_(1), dt.fill_(1), B.fill_(1), C.fill_(1), D.zero_()
    torch.testing.assert_close(scan(x, dt, torch.full_like(A, -1e3), B, C, D), torch.ones_like(x))
    counted = torch.arange(1.0, 41).view(1, 40, 1)
    torch.testing.assert_close(scan(x, dt, torch.full_like(A, -1e-9), B, C, D), counted)


@fast_forms
def test_not_a_number_is_passed_on_but_never_to_another_row(scan: Scan) -> None:
    inputs = [v.detach() for v in draw(3, 40, dtype=torch.float32)]
    inputs[1][1, 7, 2] = math.nan
    y = scan(*inputs)
    assert y[1, 7:, 2].isnan().all()
    assert y[[0, 2]].isfinite().all()


@dtypes
def test_the_kernels_give_the_same_bits_whatever_the_number_of_threads(
    dtype: torch.dtype, threads: Callable[[int], None]
) -> None:
    inputs = draw(5, 40, WIDTH + 8, 16, dtype)
    results = []
    for n in (1, 2, 1):
        threads(n)
        results.append(outputs_and_gradients(selective_scan_numba, inputs))
        assert torch.get_num_threads() == n
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_the_kernels_take_tensors_that_are_not_contiguous() -> None:
    inputs = draw()
    views = [v.detach().movedim(0, -1).contiguous().movedim(-1, 0).requires_grad_() for v in inputs]
    for ours, plain in zip(*(outputs_and_gradients(selective_scan_numba, v) for v in (views, inputs)), strict=True):
        assert torch.equal(ours, plain)


@njit
def _exp_all(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        y[i] = exp(x[i])


def test_the_exponential_is_accurate_underflows_to_zero_and_overflows_to_infinity() -> None:
    def computed(x: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        _exp_all(x, y)
        return y

    x = np.linspace(-87.3, 88, 1_000_003, dtype=np.float32)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(computed(x) / exact - 1).max() < 1e-7
    special = np.array([-np.inf, -1e30, -88, 0, 89, np.inf, np.nan], dtype=np.float32)
    np.testing.assert_array_equal(computed(special), np.float32([0, 0, 0, 1, np.inf, np.inf, np.nan]))
