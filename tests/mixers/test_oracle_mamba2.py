"""Mamba2 against transformers, with the same weights, and how it starts."""

from typing import Any

import pytest
import torch

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.mamba2 import Mamba2
from recollect.ops.forms import OWN, pick
from tests.support.oracles.mamba2 import theirs, transformers_mamba2, transformers_ssd

TOLERANCE = 1e-5


@pytest.mark.parametrize("kernel", ["loop", "torch", "numba"])
@pytest.mark.parametrize(
    ("length", "options"),
    [(1, {"head_dim": 8}), (20, {}), (70, {"d_state": 5, "expand": 3, "head_dim": 8, "d_conv": 2, "chunk": 16})],
)
def test_outputs_and_all_gradients_equal_the_oracle(kernel: Any, length: int, options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    ours = build_mixer("mamba2", d_model=24, kernel=kernel, **options)
    assert isinstance(ours, Mamba2)
    with torch.no_grad():
        for p in ours.parameters():
            p.add_(0.1 * torch.randn_like(p))
    other = transformers_mamba2(ours, chunk=16)
    x, weights = torch.randn(2, 3, length, 24)
    results = []
    for module in (ours, other):
        given = x.clone().requires_grad_()
        y = module(given)
        (y * weights).sum().backward()
        results.append((y, given.grad))
    torch.testing.assert_close(results[0], results[1], rtol=TOLERANCE, atol=TOLERANCE)
    gradients = {name: p.grad for name, p in other.named_parameters()}
    for name, p in ours.named_parameters():
        judge = gradients[theirs(name)]
        assert judge is not None
        torch.testing.assert_close(
            p.grad, judge.view_as(p), rtol=TOLERANCE, atol=TOLERANCE * judge.abs().max().item(), msg=name
        )


@pytest.mark.parametrize("kernel", OWN)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_the_core_equals_the_oracle_with_groups(groups: int, kernel: str) -> None:
    torch.manual_seed(0)
    x, dt, A, D = torch.randn(2, 4, 70, 6), torch.rand(2, 4, 70), -torch.rand(4), torch.randn(4)
    B, C = torch.randn(2, 2, groups, 70, 5)
    inputs = [m.requires_grad_() for m in (x, dt, A, B, C, D)]
    weights = torch.randn_like(x)
    outputs = [pick("ssd", kernel)(x, dt, dt * A.unsqueeze(-1), B, C, D, chunk=32), transformers_ssd(*inputs)]
    gradients = [torch.autograd.grad((y * weights).sum(), inputs) for y in outputs]
    torch.testing.assert_close(outputs[0], outputs[1], rtol=TOLERANCE, atol=TOLERANCE)
    for ours, judge in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, judge, rtol=TOLERANCE, atol=TOLERANCE * judge.abs().max().item())


def test_the_first_weights_are_those_of_the_paper() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("mamba2", d_model=512, head_dim=2)
    assert isinstance(mixer, Mamba2)
    A, steps = mixer.A_log.exp(), torch.nn.functional.softplus(mixer.dt_bias).log10()
    assert 1 <= A.min() < 1.2
    assert 15.8 < A.max() <= 16
    assert -3.001 < steps.min() < -2.9
    assert -1.1 < steps.max() < -0.999
    assert (mixer.D == 1).all()
    assert (mixer.norm.weight == 1).all()


@pytest.mark.parametrize("d_model", [384, 512])
def test_wide_models_work(d_model: int) -> None:
    mixer, x = build_mixer("mamba2", d_model=d_model), torch.randn(1, 70, d_model, requires_grad=True)
    y = mixer(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.isfinite().all()
    assert gradient.isfinite().all()
    assert mixer.state_size(70) == 2 * d_model * 64 + (2 * d_model + 128) * 3


def test_rope_needs_an_even_state() -> None:
    with pytest.raises(BadInput, match="even d_state"):
        build_mixer("mamba2", d_model=16, d_state=5, positions="rope")


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e4])
def test_tiny_and_huge_inputs_stay_finite(size: float) -> None:
    torch.manual_seed(0)
    mixer, x = build_mixer("mamba2", d_model=16, chunk=8), (size * torch.randn(2, 33, 16)).requires_grad_()
    y = mixer(x)
    y.sum().backward()
    assert y.isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in [x, *mixer.parameters()])
