"""DeltaNet and Gated DeltaNet against flash-linear-attention and transformers, and how they start."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.deltanet import DeltaNet
from recollect.mixers.gated_deltanet import GatedDeltaNet
from recollect.ops.forms import OWN, pick
from tests.support.oracles.delta import (
    fla_delta,
    fla_gated_delta,
    fla_gated_delta_chunks,
    in_their_words,
    transformers_delta,
    transformers_layer,
)

TOLERANCE = 1e-5
Core = Callable[..., Tensor]


def assert_close(ours: Tensor, judge: Tensor, name: str) -> None:
    torch.testing.assert_close(ours, judge, rtol=TOLERANCE, atol=TOLERANCE * judge.abs().max().item(), msg=name)


@pytest.mark.parametrize(
    ("oracle", "gated"),
    [
        (fla_delta, False),
        (transformers_delta, False),
        (fla_gated_delta, True),
        (fla_gated_delta_chunks, True),
        (transformers_delta, True),
    ],
)
@pytest.mark.parametrize("kernel", OWN)
@pytest.mark.parametrize("length", [1, 20, 70])
def test_the_core_and_its_gradients_equal_the_oracle(length: int, kernel: str, oracle: Core, gated: bool) -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, length, width) for width in (8, 8, 6))
    beta, g = torch.rand(2, 2, 3, length)
    inputs = [m.requires_grad_() for m in (q, F.normalize(k, dim=-1), v, beta, *([-g] if gated else []))]
    ours = pick("delta", kernel)(*inputs[:4], inputs[4] if gated else None, chunk=32)
    judge, weights = oracle(*inputs), torch.randn(2, 3, length, 6)
    assert_close(ours, judge, "o")
    gradients = [torch.autograd.grad((y * weights).sum(), inputs, allow_unused=True) for y in (ours, judge)]
    for name, a, b in zip("qkvβg", *gradients, strict=False):
        assert_close(a if a is not None else torch.zeros(()), b if b is not None else torch.zeros(()), name)


@pytest.mark.parametrize("kernel", ["loop", "torch", "numba"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gated_deltanet", {}),
        ("gated_deltanet", {"n_heads": 2, "expand_v": 2, "d_conv": 3, "chunk": 16}),
        ("deltanet", {"gate": True}),
        ("deltanet", {"gate": True, "n_heads": 3, "negative_eigenvalues": True, "chunk": 16}),
    ],
)
def test_the_layer_and_all_gradients_equal_the_oracle(name: str, options: dict[str, Any], kernel: Any) -> None:
    torch.manual_seed(0)
    ours = build_mixer(name, d_model=24, kernel=kernel, **options)
    assert isinstance(ours, DeltaNet | GatedDeltaNet)
    with torch.no_grad():
        for p in ours.parameters():
            p.add_(0.1 * torch.randn_like(p))
    other = transformers_layer(ours)
    x, weights = torch.randn(2, 3, 70, 24)
    results = []
    for module in (ours, other):
        given = x.clone().requires_grad_()
        y = module(given)
        (y * weights).sum().backward()
        results.append({"out": y, "x": given.grad})
    gradients = in_their_words({name: p.grad for name, p in ours.named_parameters() if p.grad is not None})
    results[0] |= gradients
    results[1] |= {name: p.grad for name, p in other.named_parameters() if name in gradients}
    assert len(gradients) == len(list(ours.parameters())) - 2
    for key, value in results[0].items():
        judge = results[1][key]
        assert value is not None
        assert judge is not None
        assert_close(value, judge, key)


def test_the_first_decays_are_those_of_the_paper() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("gated_deltanet", d_model=512, n_heads=256)
    assert isinstance(mixer, GatedDeltaNet)
    A, steps = mixer.A_log.exp(), F.softplus(mixer.dt_bias).log10()
    assert 0 < A.min() < 0.3
    assert 15.7 < A.max() <= 16
    assert -3.001 < steps.min() < -2.9
    assert -1.1 < steps.max() < -0.999
    assert (mixer.norm.weight == 1).all()


@pytest.mark.parametrize("name", ["deltanet", "gated_deltanet"])
@pytest.mark.parametrize(("d_model", "n_heads"), [(384, 3), (512, 4)])
def test_wide_models_work_with_heads_of_128(name: str, d_model: int, n_heads: int) -> None:
    mixer, x = build_mixer(name, d_model=d_model), torch.randn(1, 70, d_model, requires_grad=True)
    y = mixer(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert y.isfinite().all()
    assert gradient.isfinite().all()
    assert mixer.state_size(70) == n_heads * 128 * 128 + 3 * d_model * 3


@pytest.mark.parametrize("name", ["deltanet", "gated_deltanet"])
def test_rope_needs_an_even_head_width(name: str) -> None:
    with pytest.raises(BadInput, match="even head width"):
        build_mixer(name, d_model=15, positions="rope")


@pytest.mark.parametrize("name", ["deltanet", "gated_deltanet"])
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e4])
def test_tiny_and_huge_inputs_stay_finite(name: str, size: float) -> None:
    torch.manual_seed(0)
    mixer, x = build_mixer(name, d_model=16, chunk=8), (size * torch.randn(2, 33, 16)).requires_grad_()
    y = mixer(x)
    y.sum().backward()
    assert y.isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in [x, *mixer.parameters()])
