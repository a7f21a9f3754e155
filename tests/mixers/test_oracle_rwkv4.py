"""RWKV-4 against transformers': outputs, input gradient, parameter gradients, and the initialisation."""

import math

import pytest
import torch
from torch import Tensor, nn

from recollect.mixers import build_mixer
from recollect.mixers.rwkv4 import RWKV4, ChannelMix
from tests.support.oracles.rwkv4 import CHANNEL_MIX, SHIFTS, TIME_MIX, channel_mix, time_mix, untrained

D = 16
CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # the oracle keeps its state in float32


def build(layer: int = 0, n_layers: int = 1, kernel: str = "numba") -> RWKV4:
    made = build_mixer("rwkv4", d_model=D, layer=layer, n_layers=n_layers, kernel=kernel)
    assert isinstance(made, RWKV4)
    return made


def moved(module: nn.Module) -> nn.Module:
    """In double precision, every parameter off its initial value."""
    with torch.no_grad():
        for p in module.double().parameters():
            p.add_(0.3 * torch.randn_like(p))
    return module


def compare(ours: nn.Module, theirs: nn.Module, names: dict[str, str], x: Tensor) -> None:
    own, other = dict(ours.named_parameters()), dict(theirs.named_parameters())
    y, (z, _) = ours(x), theirs(x)
    torch.testing.assert_close(y, z, **CLOSE)
    direction = torch.randn_like(y)
    # A decay that no token has undergone yet is not in the graph: that counts as zero.
    grads = torch.autograd.grad((y * direction).sum(), [x, *(own[n] for n in names)], materialize_grads=True)
    judges = torch.autograd.grad(
        (z * direction).sum(), [x, *(other[n] for n in names.values())], materialize_grads=True
    )
    for name, grad, judge in zip(["x", *names], grads, judges, strict=True):
        torch.testing.assert_close(grad, judge.view_as(grad), **CLOSE, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("kernel", ["numba", "torch", "loop"])
@pytest.mark.parametrize("length", [1, 2, 7, 33])
def test_the_time_mix_equals_transformers(length: int, kernel: str) -> None:
    torch.manual_seed(0)
    ours = moved(build(layer=1, n_layers=3, kernel=kernel))
    x = torch.randn(2, length, D, dtype=torch.float64, requires_grad=True)
    compare(ours, time_mix(ours), TIME_MIX, x)


@pytest.mark.parametrize("expansion", [2, 4])
@pytest.mark.parametrize("length", [1, 7])
def test_the_channel_mix_equals_transformers(length: int, expansion: int) -> None:
    torch.manual_seed(0)
    ours = moved(ChannelMix(D, expansion, layer=1, n_layers=3))
    x = torch.randn(2, length, D, dtype=torch.float64, requires_grad=True)
    compare(ours, channel_mix(ours), CHANNEL_MIX, x)


def test_the_channel_mix_computes_asked_rows_alone() -> None:
    torch.manual_seed(0)
    mix, x, at = (
        moved(ChannelMix(D, 4, 0, 1)),
        torch.randn(2, 9, D, dtype=torch.float64),
        torch.tensor([[0, 8], [3, 3]]),
    )
    torch.testing.assert_close(mix(x, at), torch.take_along_dim(mix(x), at.unsqueeze(-1), dim=1))


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_decays_and_shifts_start_as_transformers_do_at_every_depth(layer: int) -> None:
    theirs, ours, channel = untrained(D, 3).blocks[layer], build(layer, 3), ChannelMix(D, 4, layer, 3)
    torch.testing.assert_close(ours.time_decay, theirs.attention.time_decay)
    for name, other in SHIFTS.items():
        torch.testing.assert_close(getattr(ours, name), getattr(theirs.attention, other).view(D))
    for name in ("mu_k", "mu_r"):
        torch.testing.assert_close(getattr(channel, name), getattr(theirs.feed_forward, SHIFTS[name]).view(D))


def test_the_bonus_of_the_current_token_zigzags_around_the_logarithm_of_0_3() -> None:
    expected = [math.log(0.3) + 0.5 * step for step in (0, 1, -1, 0, 1, -1)]
    torch.testing.assert_close(build().u[:6].tolist(), expected)


def test_a_single_layer_starts_finite_with_zero_and_orthogonal_matrices() -> None:
    mix, channel = build(), ChannelMix(D, 4, 0, 1)
    assert all(p.isfinite().all() for module in (mix, channel) for p in module.parameters())
    for zero in (mix.k_proj, mix.r_proj, mix.out_proj, channel.r_proj, channel.out_proj):
        assert zero.weight.abs().max() == 0
    torch.testing.assert_close(mix.v_proj.weight @ mix.v_proj.weight.T, torch.eye(D))
    torch.testing.assert_close(channel.k_proj.weight.T @ channel.k_proj.weight, 4 * torch.eye(D))
