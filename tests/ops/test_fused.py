"""Compiled one-pass ops (convolution, norms, gates) and the choice of rows, against their equations."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.ops.bias_gelu import bias_gelu_numba, bias_gelu_torch
from recollect.ops.bonus_norm import bonus_norm_numba, bonus_norm_torch
from recollect.ops.causal_conv import causal_conv_loop, causal_conv_numba, causal_conv_torch
from recollect.ops.gate import gate_numba, gate_torch
from recollect.ops.removal_keys import removal_keys_numba, removal_keys_torch
from recollect.ops.rms_norm import rms_norm_numba, rms_norm_torch, unit
from recollect.ops.rows import take_rows
from recollect.ops.softplus_linear import softplus_linear_numba, softplus_linear_torch
from recollect.ops.token_shift import token_shift_torch
from recollect.ops.token_shifts import token_shifts_numba, token_shifts_torch
from recollect.ops.turned_norm import turned_norm_numba, turned_norm_torch

Form = Callable[..., Tensor]


def draw(*shapes: tuple[int, ...], scale: float = 1.0) -> list[Tensor]:
    random = torch.Generator().manual_seed(0)
    made = [scale * torch.randn(shape, generator=random, dtype=torch.float64) for shape in shapes]
    return [m.requires_grad_() for m in made]


def assert_same(ours: Tensor, judge: Tensor, inputs: list[Tensor]) -> None:
    torch.testing.assert_close(ours, judge, rtol=1e-10, atol=1e-12)
    weights = torch.randn(judge.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    results = [torch.autograd.grad((y * weights).sum(), inputs, retain_graph=True) for y in (ours, judge)]
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("form", [causal_conv_torch, causal_conv_numba])
@pytest.mark.parametrize("silu", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("length", "taps"), [(1, 4), (2, 4), (7, 4), (33, 3), (5, 1)])
def test_the_convolution_equals_its_loop_with_all_gradients(
    length: int, taps: int, bias: bool, silu: bool, form: Form
) -> None:
    inputs = draw((2, length, 5), (5, taps), *([(5,)] if bias else []))
    given = inputs if bias else [*inputs, None]
    assert_same(form(*given, silu=silu), causal_conv_loop(*given, silu=silu), inputs)  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [1, 3])
def test_the_compiled_norm_equals_its_equation_and_torch_with_all_gradients(groups: int) -> None:
    x, w = inputs = draw((2, 4, 12), (12,))
    ours = rms_norm_numba(x.transpose(0, 1), w, 1e-5, groups).transpose(0, 1)
    assert_same(ours, rms_norm_torch(x, w, 1e-5, groups), inputs)
    grouped = F.rms_norm(x.unflatten(-1, (groups, -1)), (12 // groups,), eps=1e-5)
    assert_same(grouped.flatten(-2) * w, rms_norm_torch(x, w, 1e-5, groups), inputs)


@pytest.mark.parametrize("form", [rms_norm_torch, rms_norm_numba])
@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e5])
def test_unit_vectors_have_the_length_asked_for(scale: float, form: Form) -> None:
    (x,) = inputs = draw((2, 4, 6), scale=scale)
    assert_same(unit(x, 3.0, form), 3 * x / (x.square().sum(-1, keepdim=True) + 1e-6).sqrt(), inputs)


def test_the_compiled_gate_equals_its_equation_with_all_gradients() -> None:
    x, z = inputs = draw((2, 3, 4), (2, 4, 3), scale=5)
    assert_same(gate_numba(x, z.transpose(1, 2)), gate_torch(x, z.transpose(1, 2)), inputs)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e4, 1e30])
def test_single_precision_stays_finite_at_extreme_sizes(size: float) -> None:
    x, z = (m.detach().float().mul(size).requires_grad_() for m in draw((2, 7, 6), (2, 7, 6)))
    w = torch.ones(6, 4, requires_grad=True)
    for y in (gate_numba(x, z / size), gate_numba(x / size, z), causal_conv_numba(x, w, silu=True)):
        assert y.isfinite().all()
        assert all(
            m.isfinite().all() for m in torch.autograd.grad(y.sum(), [x, z, w], allow_unused=True) if m is not None
        )
    for y in (rms_norm_numba(x, w[:, 0], 1e-5), unit(x, 1.0, rms_norm_numba)):
        assert y.isfinite().all()
        assert torch.autograd.grad(y.sum(), x)[0].isfinite().all()


def test_rows_are_taken_and_their_gradients_added_up() -> None:
    (x,) = inputs = draw((2, 5, 3))
    at = torch.tensor([[4, 0, 4], [2, 2, 2]])
    assert_same(take_rows(x, at), torch.take_along_dim(x, at.unsqueeze(-1), dim=1), inputs)
    assert take_rows(x.unsqueeze(-1), at).shape == (2, 3, 3, 1)


@pytest.mark.parametrize(("width", "rank"), [(1, 1), (16, 4), (37, 3)])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_the_compiled_softplus_equals_its_equation_with_all_gradients(width: int, rank: int, scale: float) -> None:
    x, weight, bias = inputs = draw((2, 5, rank), (width, rank), (width,), scale=scale)
    assert_same(softplus_linear_numba(*inputs), softplus_linear_torch(x, weight, bias), inputs)


def test_the_compiled_softplus_is_accurate_in_single_precision_and_at_the_ends() -> None:
    x = torch.linspace(-80, 80, 1001).view(1, -1, 1)
    one, none = torch.ones(1, 1), torch.zeros(1)
    exact = torch.log1p(torch.exp(-x.double().abs())) + x.double().clamp(min=0)
    torch.testing.assert_close(softplus_linear_numba(x, one, none).double(), exact, rtol=1e-5, atol=0)
    ends = torch.tensor([-torch.inf, torch.nan, torch.inf]).view(1, -1, 1)
    expected = torch.tensor([0.0, torch.nan, torch.inf]).view(1, -1, 1)
    torch.testing.assert_close(softplus_linear_numba(ends, one, none), expected, equal_nan=True)


@pytest.mark.parametrize("width", [1, 16, 37])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 5.0])
def test_the_compiled_gelu_equals_its_equation_with_all_gradients(width: int, scale: float) -> None:
    inputs = draw((2, 5, width), (width,), scale=scale)
    assert_same(bias_gelu_numba(*inputs), bias_gelu_torch(*inputs), inputs)


def test_the_compiled_gelu_is_accurate_in_single_precision() -> None:
    x = torch.linspace(-30, 30, 4001).view(1, 1, -1)
    made = bias_gelu_numba(x, torch.zeros(4001)).double()
    torch.testing.assert_close(made, F.gelu(x.double()), rtol=2e-7, atol=5e-7)
    assert bias_gelu_numba(torch.full((1, 1, 1), torch.nan), torch.zeros(1)).isnan().all()


def draw_turned(heads: int, width: int, turned: int, scale: float = 1.0) -> list[Tensor]:
    """x, w, b, θ, Δ."""
    x, w, b, theta, dt = draw((2, 9, 2, width), (2, width), (2, heads, width), (2, 9, turned), (2, heads, 9))
    return [m.detach().requires_grad_() for m in (scale * x, w, b, scale * theta, dt.abs())]


@pytest.mark.parametrize(("heads", "width", "turned"), [(1, 2, 1), (2, 64, 16), (3, 10, 2), (1, 6, 0), (2, 40, 20)])
def test_the_compiled_turned_norm_equals_its_equation_with_all_gradients(heads: int, width: int, turned: int) -> None:
    inputs = draw_turned(heads, width, turned)
    x, w, b, theta, dt = inputs
    u = F.rms_norm(x, (width,), eps=1e-5) * w  # (B, L, 2, N)
    angle = torch.stack(
        [(math.pi * theta.tanh().unsqueeze(1) * dt[..., None])[:, :, : t + 1].sum(2) for t in range(9)], 2
    )
    plain = u.permute(2, 0, 1, 3).unsqueeze(2) + b[:, None, :, None]  # (2, B, H, L, N)
    pairs = torch.complex(plain[..., :turned], plain[..., turned : 2 * turned]) * torch.polar(angle * 0 + 1, angle)
    judge = torch.cat((pairs.real, pairs.imag, plain[..., 2 * turned :]), dim=-1)
    for form in (turned_norm_numba, turned_norm_torch):
        assert_same(torch.stack(form(*inputs)), judge, inputs if turned else inputs[:3])


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e15])
def test_a_turned_norm_stays_finite_in_single_precision(size: float) -> None:
    inputs = [m.detach().float().requires_grad_() for m in draw_turned(2, 12, 3, size)]
    B, C = turned_norm_numba(*inputs)
    assert B.isfinite().all()
    assert all(m.isfinite().all() for m in torch.autograd.grad((B * C).sum(), inputs))


@pytest.mark.parametrize(("heads", "width"), [(1, 1), (2, 64), (3, 15), (2, 38)])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 10.0])
def test_the_compiled_removal_keys_equal_their_equation_with_all_gradients(
    heads: int, width: int, scale: float
) -> None:
    inputs = draw(*[(2, 5, width)] * 3, (width,), (width,), scale=scale)
    ours, judge = removal_keys_numba(*inputs, heads), removal_keys_torch(*inputs, heads)
    assert_same(torch.stack(ours), torch.stack(judge), inputs)
    k, w, alpha, c, _ = inputs
    removed = F.normalize((k * c).unflatten(-1, (heads, -1)), dim=-1).flatten(-2)
    if scale >= 1:  # where what is added to the norm does not count
        torch.testing.assert_close(ours[2] * ours[0].exp(), removed, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(ours[3], -alpha.sigmoid() * removed, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours[0], -math.exp(-0.5) / (1 + (-w).exp()))


@pytest.mark.parametrize(("heads", "width"), [(1, 1), (2, 64), (3, 15), (2, 38)])
def test_the_compiled_bonus_norm_equals_its_equation_with_all_gradients(heads: int, width: int) -> None:
    o, r, k, v, z, w, b, c = inputs = draw(*[(2, 5, width)] * 5, *[(width,)] * 3)
    assert_same(bonus_norm_numba(*inputs, heads), bonus_norm_torch(*inputs, heads), inputs)
    normed = F.group_norm(o.flatten(0, 1), heads, w, b, eps=1e-5 * width / heads).view_as(o)
    bonus = (r * c * k).unflatten(-1, (heads, -1)).sum(-1).repeat_interleave(width // heads, dim=-1)
    assert_same((normed + bonus * v) * z, bonus_norm_torch(*inputs, heads), inputs)


@pytest.mark.parametrize(("length", "width"), [(1, 16), (2, 5), (9, 40)])
def test_shifts_taken_together_are_those_taken_alone_with_all_gradients(length: int, width: int) -> None:
    x, mu = inputs = draw((3, length, width), (4, width))
    judge = torch.stack([token_shift_torch(x, row) for row in mu])
    for form in (token_shifts_numba, token_shifts_torch):
        assert_same(torch.stack(form(x, mu)), judge, inputs)


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e15])
def test_what_surrounds_a_state_stays_finite_in_single_precision(size: float) -> None:
    rows = [m.detach().float().mul(size).requires_grad_() for m in draw(*[(2, 7, 12)] * 5)]
    params = [m.detach().float().requires_grad_() for m in draw(*[(12,)] * 3)]
    keys = torch.stack(removal_keys_numba(*rows[:3], *params[:2], 3))
    gated = bonus_norm_numba(rows[0], *(m / max(size, 1e-30) for m in rows[1:]), *params, 3)
    for y, inputs in ((keys, [*rows[:3], *params[:2]]), (gated, [rows[0], *params])):
        assert y.isfinite().all()
        assert all(m.isfinite().all() for m in torch.autograd.grad(y.sum(), inputs))
