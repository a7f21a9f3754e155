"""Switches of the initialisation and of norms: what each does to the parameters and to what they make."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.parts import bounded, decay_parameter, decay_rate
from recollect.spec import TrainSpec
from recollect.training.execute import initial_model
from recollect.training.model import Model
from recollect.training.optimiser import build_optimiser, roles
from tests.support.small import tiny

STEPPED = ("mamba", "mamba2", "mamba3", "gated_deltanet", "gated_deltaproduct", "kda")


def biases(mixer: str, **options: Any) -> Tensor:
    """The biases of the steps, many of them."""
    heads = {"mamba2": {"head_dim": 1}, "mamba3": {"head_dim": 1}, "kda": {}, "mamba": {}}
    made = build_mixer(mixer, d_model=256, **heads.get(mixer, {"n_heads": 256}), **options)
    bias = made.dt_proj.bias if mixer == "mamba" else made.dt_bias
    assert isinstance(bias, Tensor)
    return bias.detach()


@pytest.mark.parametrize("mixer", STEPPED)
def test_the_step_starts_log_uniform_in_its_range(mixer: str) -> None:
    torch.manual_seed(0)
    log = F.softplus(biases(mixer, dt_min=1e-2, dt_max=1.0)).log()
    low, high = math.log(1e-2), math.log(1.0)
    assert low - 1e-3 <= log.min() <= low + 0.2
    assert high - 0.2 <= log.max() <= high + 1e-3
    assert log.mean().item() == pytest.approx((low + high) / 2, abs=0.35)
    assert log.std().item() == pytest.approx((high - low) / math.sqrt(12), rel=0.12)


@pytest.mark.parametrize("mixer", STEPPED)
def test_the_step_starts_at_a_constant_or_with_a_historic_bug(mixer: str) -> None:
    torch.testing.assert_close(F.softplus(biases(mixer, dt_min=0.05, dt_max=0.05)).unique().mean(), torch.tensor(0.05))
    for bug in (0, 1):
        assert biases(mixer, dt_start=f"bias {bug}").unique().tolist() == [bug]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt_min": 0.2}, "dt_min must be at most dt_max"),
        ({"dt_start": "bias 0", "dt_max": 0.5}, "leave out dt_min and dt_max"),
        ({"dt_min": 1e-5}, "greater than or equal to 0.0001"),
    ],
)
def test_a_start_that_cannot_be_meant_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tiny("mamba", **{f"model__mixer__{name}": value for name, value in options.items()})


def test_a_bounded_decay_is_smooth_and_grows_like_a_line() -> None:
    x = torch.linspace(-4, 4, 401, dtype=torch.float64, requires_grad=True)
    y = bounded(x)
    torch.testing.assert_close(y.detach(), torch.where(x >= 0, 1 + x, 1 / (1 - x)).detach())
    (slope,) = torch.autograd.grad(y.sum(), x)
    assert slope.min() > 0
    assert slope.max() <= 1
    assert slope.diff().abs().max() < 0.05
    assert bounded(torch.tensor(-1e9)).item() == pytest.approx(1e-4)


@pytest.mark.parametrize("form", ["exp", "bounded"])
@pytest.mark.parametrize("mixer", ["mamba", "mamba2"])
def test_a_decay_starts_the_same_in_either_form(mixer: str, form: Any) -> None:
    rates = torch.tensor([1e-3, 0.5, 1.0, 3.0, 16.0])
    torch.testing.assert_close(decay_rate(decay_parameter(rates, form), form), -rates, rtol=1e-4, atol=0)
    made = {}
    for one in ("exp", form):
        torch.manual_seed(0)
        made[one] = build_mixer(mixer, d_model=16, decay=one)
    x = torch.randn(2, 12, 16)
    torch.testing.assert_close(made["exp"](x), made[form](x), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("norms", "normed"), [("bc", (1, 2)), ("bcdt", (0, 1, 2))])
def test_normed_inputs_of_mamba_have_the_length_of_their_weights(norms: str, normed: tuple[int, ...]) -> None:
    mixer, x = build_mixer("mamba", d_model=32, norms=norms), 50 * torch.randn(3, 20, 32)
    assert sorted(mixer.norms) == [str(i) for i in normed]  # type: ignore[arg-type]
    _, _, B, C = mixer._inputs(x)  # type: ignore[operator]
    for one in (B, C):
        torch.testing.assert_close(one.square().mean(-1), torch.ones(3, 20), rtol=1e-3, atol=1e-3)
    louder = mixer._inputs(10 * x)[1] / mixer._inputs(x)[1]  # type: ignore[operator]
    assert (louder.median() - 1).abs() < 0.1 if 0 in normed else louder.max() > 2


def test_qk_norm_bounds_the_scores_of_attention() -> None:
    torch.manual_seed(0)
    mixer, x = build_mixer("attention", d_model=32, n_heads=2, qk_norm=True), 1e3 * torch.randn(2, 9, 32)
    for name in "qk":
        branch = mixer._branch(name, getattr(mixer, f"{name}_proj"), x, None)  # type: ignore[operator]
        torch.testing.assert_close(branch.square().mean(-1), torch.ones(2, 2, 9), rtol=1e-3, atol=1e-3)
    M, _ = mixer.mixing(x)  # type: ignore[operator]
    assert M[:, :, -1].min() > math.exp(-2 * math.sqrt(16)) / 9, "scores lie between -√P and √P"


def mimicked(mixer: str, layers: tuple[int, ...], **options: Any) -> Model:
    """Two layers of which some start near attention."""
    fields = {f"model__mixer__{name}": value for name, value in options.items()}
    return initial_model(tiny(mixer, model__n_layers=2, model__d_model=32, model__mimetic_layers=layers, **fields))


@pytest.mark.parametrize("form", ["exp", "bounded"])
@pytest.mark.parametrize("mixer", ["mamba", "mamba2"])
def test_a_mimetic_layer_hardly_decays_and_reads_what_it_writes(mixer: str, form: str) -> None:
    chosen, other = (block.mixer for block in mimicked(mixer, (0,), decay=form).blocks)
    torch.testing.assert_close(decay_rate(chosen.A_log, form), torch.full_like(chosen.A_log, -math.exp(-8)))  # type: ignore[arg-type]
    assert decay_rate(other.A_log, form).max() < -0.9  # type: ignore[arg-type]
    x = torch.randn(2, 8, 32)
    dt = chosen._inputs(x)[1]
    torch.testing.assert_close(dt, torch.ones_like(dt), rtol=1e-5, atol=0)
    torch.testing.assert_close(chosen.conv.weight, torch.eye(4)[3].expand_as(chosen.conv.weight))
    assert chosen.conv.bias.abs().max() == 0
    if mixer == "mamba":
        B, C = chosen.x_proj.weight[chosen.sizes[0] :].split(16)
    else:
        B, C = chosen.in_proj.weight.split(chosen.sizes)[1].split(chosen.branches)[1:]
    torch.testing.assert_close(B, C)
    gram = C.T @ B
    torch.testing.assert_close(gram @ gram, gram, rtol=1e-4, atol=1e-5)
    assert torch.linalg.matrix_rank(gram) == min(B.shape)


def test_mimetic_groups_of_mamba2_are_each_a_projection() -> None:
    mixer = mimicked("mamba2", (0,), n_groups=2, head_dim=8, d_state=16).blocks[0].mixer
    B = mixer.in_proj.weight.split(mixer.sizes)[1].split(mixer.branches)[1]
    for own in B.split(16):
        torch.testing.assert_close(own @ own.T, torch.eye(16), rtol=1e-4, atol=1e-5)
    mixer.conv = torch.nn.SiLU()
    mixer.mimic()


def test_a_mimetic_start_wins_over_one_from_outside() -> None:
    model = initial_model(tiny("mamba", model__init="gpt2", model__mimetic_layers=(0,)))
    mixer = model.blocks[0].mixer
    B, C = mixer.x_proj.weight[mixer.sizes[0] :].split(16)
    torch.testing.assert_close(B, C)


@pytest.mark.parametrize(
    ("mixer", "layers", "message"),
    [("mamba", (1,), "there is no layer 1"), ("attention", (0,), "attention has no mimetic start")],
)
def test_mimetic_layers_must_be_there(mixer: str, layers: tuple[int, ...], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tiny(mixer, model__mimetic_layers=layers)


def test_the_same_mimetic_layers_are_the_same_run() -> None:
    one, other = (tiny("mamba", model__n_layers=2, model__mimetic_layers=layers) for layers in ((0, 1), (1, 0)))
    assert one.id == other.id
    with pytest.raises(BadInput, match="name every layer once"):
        tiny("mamba", model__mimetic_layers=(0, 0))


@pytest.mark.parametrize("step", [{"dt_start": "bias 1"}, {"dt_min": 0.05, "dt_max": 0.05}])
def test_a_step_that_another_start_overwrites_is_refused(step: dict[str, Any]) -> None:
    own = {f"model__mixer__{name}": value for name, value in step.items()}
    for init in ("gpt2", "zoology-legacy"):
        with pytest.raises(BadInput, match=f"init {init} sets Mamba's step"):
            tiny("mamba", model__init=init, **own)
        tiny("mamba2", model__init=init, **own)
    with pytest.raises(BadInput, match="a mimetic layer has its own step"):
        tiny("mamba", model__mimetic_layers=(0,), **own)
    tiny("mamba", model__n_layers=2, model__mimetic_layers=(0,), **own)


@pytest.mark.parametrize("init", ["native", "gpt2", "zoology-legacy"])
def test_the_embedding_has_the_deviation_that_is_asked_for(init: str) -> None:
    fields: dict[str, Any] = {"task__vocab_size": 400, "model__d_model": 64, "model__init": init}
    for std in (0.02, 1.0):
        model = initial_model(tiny(model__embedding_std=std, model__positions="learned", **fields))
        assert model.embed.weight.std().item() == pytest.approx(std, rel=0.03)
        assert model.position.std().item() == pytest.approx(0.02, rel=0.15)


def test_mup_slows_hidden_matrices_and_shrinks_logits_with_the_width() -> None:
    model = initial_model(tiny("mamba", model__d_model=32, model__base_width=8))
    plain = initial_model(tiny("mamba", model__d_model=32))
    tokens = torch.arange(6).unsqueeze(0)
    torch.testing.assert_close(model(tokens), plain(tokens) / 4)
    found = roles(model)
    for group in build_optimiser(model, TrainSpec(weight_decay=0.1)).param_groups:
        hidden = {found[p] == "hidden" for p in group["params"]}
        assert len(hidden) == 1
        expected = (0.25, pytest.approx(0.4)) if hidden == {True} else (1.0, 0.1)
        assert (group["factor"], group["weight_decay"]) == expected
    with pytest.raises(BadInput, match="base_width needs init native"):
        tiny("mamba", model__base_width=8, model__init="gpt2")
