"""Mamba against transformers and mambapy, with the same weights, and how it starts."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from recollect.mixers import build_mixer
from recollect.mixers.mamba import Mamba
from tests.support.oracles.mamba import mambapy_mamba, theirs, transformers_mamba


@pytest.mark.parametrize("oracle", [transformers_mamba, mambapy_mamba])
@pytest.mark.parametrize("kernel", ["loop", "torch", "numba"])
@pytest.mark.parametrize(
    ("length", "options"), [(1, {}), (20, {}), (37, {"d_state": 5, "expand": 3, "d_conv": 2, "dt_rank": 7})]
)
def test_outputs_and_all_gradients_equal_the_oracle(
    oracle: Callable[[Mamba], nn.Module], kernel: Any, length: int, options: dict[str, Any]
) -> None:
    torch.manual_seed(0)
    ours = build_mixer("mamba", d_model=24, kernel=kernel, **options)
    assert isinstance(ours, Mamba)
    with torch.no_grad():
        for p in ours.parameters():
            p.add_(0.1 * torch.randn_like(p))
    other = oracle(ours)
    x = torch.randn(3, length, 24)
    weights = torch.randn_like(x)
    results = []
    for module in (ours, other):
        given = x.clone().requires_grad_()
        y = module(given)
        (y * weights).sum().backward()
        results.append((y, given.grad))
    gradients = {name: p.grad for name, p in other.named_parameters()}
    torch.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-5)
    for name, p in ours.named_parameters():
        judge = gradients[theirs(name)]
        assert judge is not None
        torch.testing.assert_close(p.grad, judge.view_as(p), rtol=1e-5, atol=1e-5 * judge.abs().max().item(), msg=name)


def test_the_first_weights_are_those_of_the_paper() -> None:
    torch.manual_seed(0)
    mixers = [build_mixer("mamba", d_model=64, n_layers=n) for n in (1, 4)]
    for mixer in mixers:
        assert isinstance(mixer, Mamba)
        torch.testing.assert_close(-mixer.A_log.exp(), -torch.arange(1.0, 17).expand(128, -1))
        assert (mixer.D == 1).all()
        steps = nn.functional.softplus(mixer.dt_proj.bias).log10()
        assert -3.001 < steps.min() < -2.9
        assert -1.1 < steps.max() < -0.999
        assert 0.49 < mixer.dt_proj.weight.abs().max() <= 0.5  # R = 4
    deviations = [mixer.get_parameter("out_proj.weight").std() for mixer in mixers]
    torch.testing.assert_close(deviations[0], 2 * deviations[1], rtol=0.05, atol=0)


def test_without_the_gate_there_is_no_branch_for_it_and_without_the_convolution_no_weights() -> None:
    plain = build_mixer("mamba", d_model=16, gate=False, d_conv=0)
    assert plain.get_parameter("in_proj.weight").shape == (32, 16)
    assert not any(name.startswith("conv") for name, _ in plain.named_parameters())
    assert plain.state_size(100) == 32 * 16
    assert build_mixer("mamba", d_model=16).state_size(100) == 32 * (16 + 3)
