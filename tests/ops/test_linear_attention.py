"""Linear attention: all pairs, chunks and single rows against the loop, gradients included."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from recollect.ops.linear_attention import (
    DOT,
    TAYLOR,
    FeatureMap,
    linear_attention_chunks,
    linear_attention_loop,
    linear_attention_pairs,
    linear_attention_torch,
)

EXACT = {"rtol": 1e-9, "atol": 1e-10}
Attend = Callable[..., Tensor]
FAST: dict[str, Attend] = {
    "chosen": linear_attention_torch,
    "pairs": linear_attention_pairs,
    "chunks": partial(linear_attention_chunks, chunk=4),
}
every_form = pytest.mark.parametrize("fast", FAST.values(), ids=FAST.keys())
every_map = pytest.mark.parametrize("phi", [DOT, TAYLOR], ids=["dot", "taylor"])


def draw(batch: int, heads: int, length: int, width: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, heads, length, width, dtype=torch.float64, generator=generator).requires_grad_()


def draw_all(batch: int, length: int) -> list[Tensor]:
    return [draw(batch, 2, length, width, seed) for seed, width in enumerate((4, 4, 3))]


def with_gradients(f: Attend, inputs: list[Tensor], phi: FeatureMap) -> list[Tensor]:
    y = f(*inputs, phi)
    return [y, *torch.autograd.grad((y * draw(*y.shape, seed=9).detach()).sum(), inputs)]


@every_form
@every_map
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 33, 200])
def test_the_fast_form_equals_the_loop_with_gradients(fast: Attend, phi: FeatureMap, batch: int, length: int) -> None:
    inputs = draw_all(batch, length)
    judges = with_gradients(linear_attention_loop, inputs, phi)
    for ours, judge in zip(with_gradients(fast, inputs, phi), judges, strict=True):
        torch.testing.assert_close(ours, judge, **EXACT)


@every_map
@pytest.mark.parametrize("form", [linear_attention_torch, linear_attention_loop])
def test_asked_rows_equal_the_loop_with_gradients(form: Attend, phi: FeatureMap) -> None:
    q, k, v = draw_all(2, 33)
    at = torch.tensor([[0, 32, 5, 5], [7, 1, 31, 2]])
    index = at[:, None, :, None]
    direction = draw(2, 2, 4, 3, seed=9).detach()
    asked = form(torch.take_along_dim(q, index, dim=2), k, v, phi, at)
    judge = torch.take_along_dim(linear_attention_loop(q, k, v, phi), index, dim=2)
    torch.testing.assert_close(asked, judge, **EXACT)
    gradients = [torch.autograd.grad((y * direction).sum(), [q, k, v]) for y in (asked, judge)]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, **EXACT)


@every_map
def test_the_closed_form_of_the_weights_is_the_product_of_the_features(phi: FeatureMap) -> None:
    q, k, _ = draw_all(2, 7)
    torch.testing.assert_close(phi.weights(q, k), phi.features(q) @ phi.features(k).mT, **EXACT)
    assert phi.features(q).shape[-1] == phi.size(q.shape[-1])


def test_the_taylor_weights_are_the_polynomial_and_never_below_a_half() -> None:
    q, k, _ = draw_all(2, 33)
    a = q @ k.mT / 2
    torch.testing.assert_close(TAYLOR.weights(q, k), 1 + a + a**2 / 2, **EXACT)
    assert TAYLOR.weights(10 * q, k).min() >= 0.5


@every_form
@every_map
@pytest.mark.parametrize("size", [1e-20, 1e4])
def test_extreme_keys_stay_finite(fast: Attend, phi: FeatureMap, size: float) -> None:
    q, k, v = (x.detach().float() for x in draw_all(2, 33))
    inputs = [q.requires_grad_(), (k * size).requires_grad_(), v.requires_grad_()]
    y = fast(*inputs, phi)
    assert y.isfinite().all()
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(y.sum(), inputs))
