"""Initialisation belongs to the mixer, unless the spec says `gpt2` or `zoology-legacy`."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from recollect.mixers import build_mixer
from recollect.spec import MIXERS
from recollect.training.execute import initial_model
from recollect.training.model import Model
from tests.support.small import tiny

RESCALED_BY_ZOOLOGY = {"attention", "sliding_attention", "linear_attention", "hyena", "lstm"} | {
    "mamba",
    "mamba2",
    "mamba3",
}


def model(mixer: str, init: str, n_layers: int = 2) -> Model:
    """A model of useful width."""
    return initial_model(tiny(mixer, model__d_model=64, model__n_layers=n_layers, model__init=init))


def steps(made: Model) -> torch.Tensor:
    """Mamba's dt where its input is zero."""
    return F.softplus(made.blocks[0].mixer.dt_proj.bias)


def test_mambas_step_is_its_own_under_native() -> None:
    dt = steps(model("mamba", "native"))
    assert dt.min() >= 1e-3 * 0.999
    assert dt.max() <= 1e-1 * 1.001
    log = dt.log()
    assert log.mean().item() == pytest.approx(math.log(1e-2), abs=0.4)
    assert log.std().item() == pytest.approx(math.log(100) / math.sqrt(12), rel=0.2)


@pytest.mark.parametrize("init", ["zoology-legacy", "gpt2"])
def test_mambas_step_is_ln_2_everywhere_when_its_linears_are_redrawn(init: str) -> None:
    torch.testing.assert_close(steps(model("mamba", init)), torch.full((128,), math.log(2)))


def test_hyenas_filter_shrinks_hundreds_of_times_when_its_linears_are_redrawn() -> None:
    sizes = {init: model("hyena", init).blocks[0].mixer.filter(8).abs().mean().item() for init in ("native", "gpt2")}
    assert sizes["native"] / sizes["gpt2"] > 100


@pytest.mark.parametrize("mixer", MIXERS)
def test_native_weights_are_those_that_the_mixer_alone_would_have(mixer: str) -> None:
    made = model(mixer, "native", n_layers=1)
    torch.manual_seed(0)
    alone = build_mixer(mixer, d_model=64, length=8)
    placed = dict(made.blocks[0].mixer.named_parameters())
    for name, p in alone.named_parameters():
        assert placed[name].shape == p.shape
        if p.numel() >= 1000:
            assert placed[name].std().item() == pytest.approx(p.std().item(), rel=0.15, abs=1e-6), name


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("init", ["gpt2", "zoology-legacy"])
def test_the_output_is_scaled_with_depth_where_the_mode_knows_it(mixer: str, init: str) -> None:
    out = model(mixer, init).blocks[0].mixer.out_proj
    assert isinstance(out, nn.Linear)
    scaled = init == "gpt2" or mixer in RESCALED_BY_ZOOLOGY
    assert out.weight.std().item() == pytest.approx(0.02 / (2 if scaled else 1), rel=0.1)
