"""The long convolution and the kernel of modes: fast forms against the loop, gradients included."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from recollect.ops.long_conv import fft_conv, fft_size, long_conv_loop, long_conv_torch, toeplitz, toeplitz_conv
from recollect.ops.modes_kernel import modes_kernel_loop, modes_kernel_torch

EXACT = {"rtol": 1e-9, "atol": 1e-10}
LENGTHS = [1, 2, 7, 33]
Convolution = Callable[[Tensor, Tensor], Tensor]
every_form = pytest.mark.parametrize("fast", [long_conv_torch, toeplitz_conv, fft_conv])


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def with_gradients(f: Convolution, x: Tensor, h: Tensor) -> list[Tensor]:
    y = f(x, h)
    return [y, *torch.autograd.grad((y * draw(*y.shape, seed=9).detach()).sum(), [x, h])]


@every_form
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("length", [*LENGTHS, 200])
@pytest.mark.parametrize(("channels", "kernels"), [(6, 6), (6, 3), (4, 1)])
def test_the_fast_form_equals_the_loop_with_gradients(
    fast: Convolution, batch: int, length: int, channels: int, kernels: int
) -> None:
    x, h = draw(batch, length, channels), draw(kernels, length, seed=1)
    for ours, judge in zip(with_gradients(fast, x, h), with_gradients(long_conv_loop, x, h), strict=True):
        torch.testing.assert_close(ours, judge, **EXACT)


@every_form
@pytest.mark.parametrize("taps", [1, 4, 33, 50])
def test_a_kernel_may_be_shorter_or_longer_than_the_row(fast: Convolution, taps: int) -> None:
    x, h = draw(2, 33, 4), draw(4, taps, seed=1)
    for ours, judge in zip(with_gradients(fast, x, h), with_gradients(long_conv_loop, x, h), strict=True):
        torch.testing.assert_close(ours, judge, **EXACT)


@every_form
def test_channels_first_in_memory_stay_there_and_change_nothing(fast: Convolution) -> None:
    x, h = draw(2, 33, 6), draw(3, 33, seed=1)
    strided = x.detach().permute(2, 0, 1).contiguous().permute(1, 2, 0).requires_grad_()
    y = fast(strided, h)
    assert fast(x, h).is_contiguous()
    assert y.permute(2, 0, 1).is_contiguous()
    for ours, other in zip(with_gradients(fast, strided, h), with_gradients(fast, x, h), strict=True):
        torch.testing.assert_close(ours, other, **EXACT)


def test_the_toeplitz_form_leaves_the_future_exactly_unseen() -> None:
    x, h = draw(2, 33, 4), draw(4, 33, seed=1)
    (grad,) = torch.autograd.grad(toeplitz_conv(x, h)[:, 10].sum(), x)
    assert grad[:, 11:].abs().max() == 0
    assert toeplitz(h, 33).triu(1).abs().max() == 0


@every_form
def test_extreme_values_stay_finite(fast: Convolution) -> None:
    for size in (1e-30, 1e12):
        x, h = (draw(2, 33, 4).float() * size), draw(4, 33, seed=1).float() * size
        assert all(part.isfinite().all() for part in with_gradients(fast, x, h))


def test_fft_sizes_are_even_products_of_small_primes() -> None:
    assert [fft_size(n) for n in (1, 2, 7, 13, 511, 513)] == [2, 2, 8, 16, 512, 540]


def draw_modes(heads: int = 3, modes: int = 5) -> tuple[Tensor, Tensor]:
    weights = torch.view_as_complex(draw(heads, modes, 2))
    radius, angle = torch.linspace(0, 1, heads * modes, dtype=torch.float64), draw(heads * modes, seed=1)
    return weights, torch.polar(radius, angle).view(heads, modes)


@pytest.mark.parametrize("length", [*LENGTHS, 200, 256])
def test_the_kernel_of_modes_equals_its_recurrence_with_gradients_from_decay_zero_to_one(length: int) -> None:
    weights, modes = (part.detach().requires_grad_() for part in draw_modes())
    direction = draw(3, length, seed=2).detach()
    results = []
    for kernel in (modes_kernel_torch, modes_kernel_loop):
        h = kernel(weights, modes, length)
        # With a single tap the powers of the modes are all 1.
        gradients = torch.autograd.grad((h * direction).sum(), [weights, modes], allow_unused=length == 1)
        results.append([h, *(part for part in gradients if part is not None)][: 2 if length == 1 else 3])
    for ours, judge in zip(*results, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, judge, **EXACT)
