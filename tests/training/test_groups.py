"""Groups of parameters: what belongs to which, at which rate and with which decay it is trained."""

from typing import Any

import pytest
import torch
from torch import nn

import recollect
from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.spec import MIXERS, RunSpec, TrainSpec
from recollect.tasks import make_task
from recollect.training.execute import initial_model
from recollect.training.model import Model
from recollect.training.optimiser import build_optimiser, check_groups, roles
from recollect.training.trainer import Trainer, learning_rate
from tests.support.mixer_rows import ROWS
from tests.support.small import tiny


def named_roles(model: Model) -> dict[str, str]:
    """Name -> role."""
    found = roles(model)
    return {name: found[p] for name, p in model.named_parameters()}


def moved(spec: RunSpec) -> dict[str, float]:
    """How far one step moves every parameter, at most."""
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    before = {name: p.detach().clone() for name, p in trainer.model.named_parameters()}
    trainer.step()
    return {name: (p.detach() - before[name]).abs().max().item() for name, p in trainer.model.named_parameters()}


def test_mambas_parameters_have_the_roles_that_its_equations_give_them() -> None:
    found = named_roles(initial_model(tiny("mamba", model__positions="learned", model__tied_head=False)))
    assert {name for name, role in found.items() if role == "dynamics"} == {
        f"blocks.0.mixer.{name}" for name in ("A_log", "D", "dt_proj.weight", "dt_proj.bias")
    }
    assert {name for name, role in found.items() if role == "embedding"} == {"embed.weight", "position"}
    assert {name for name, role in found.items() if role == "norms"} == {
        *("norm.weight", "norm.bias", "blocks.0.norm.weight", "blocks.0.mixer.conv.bias")
    }
    assert {name for name, role in found.items() if role == "hidden"} == {
        f"blocks.0.mixer.{name}.weight" for name in ("in_proj", "x_proj", "out_proj")
    }
    assert {name for name, role in found.items() if role == "other"} == {"head.weight", "blocks.0.mixer.conv.weight"}


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_mixer_names_dynamics_that_it_has(mixer: str) -> None:
    made = [build_mixer(name, d_model=16, length=8, **options) for name, options in ROWS if name == mixer]
    for own in type(made[0]).dynamics:
        assert any(name == own or name.startswith(f"{own}.") for one in made for name, _ in one.named_parameters()), own


def test_a_users_mixer_may_name_its_dynamics(tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import torch\n"
        "class Mine(torch.nn.Module):\n"
        "    dynamics = ('rate',)\n"
        "    def __init__(self, d_model):\n"
        "        super().__init__()\n"
        "        self.rate = torch.nn.Linear(d_model, 1)\n"
        "    def forward(self, x):\n"
        "        return x.cumsum(1) * self.rate(x)\n"
    )
    found = named_roles(initial_model(tiny(f"{file}:Mine")))
    own = {"blocks.0.mixer.inner.rate.weight", "blocks.0.mixer.inner.rate.bias"}
    assert {name for name, role in found.items() if role == "dynamics"} == own


THEIRS = """
import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

class Normed(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.mix = weight_norm(nn.Linear(d_model, d_model))
    def forward(self, x):
        return self.mix(x).cumsum(1)

class Attended(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.mix = nn.MultiheadAttention(d_model, 1, batch_first=True)
    def forward(self, x):
        ahead = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return self.mix(x, x, x, attn_mask=ahead, need_weights=False)[0]

class Raw(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.mix = nn.Parameter(torch.randn(d_model, d_model))
    def forward(self, x):
        return (x @ self.mix).cumsum(1)

class Gated(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gru = nn.GRU(d_model, d_model, batch_first=True)
        self.scale = float(self.gru.weight_hh_l0.detach().norm())
    def forward(self, x):
        return self.gru(x)[0] / self.scale

class Told(nn.Module):
    dynamics, fused = ["rate"], {"both.weight": [2, 6]}
    def __init__(self, d_model, dynamics=(), fused=()):
        super().__init__()
        self.rate, self.both = nn.Parameter(torch.zeros(d_model)), nn.Linear(d_model, d_model)
        self.dynamics, self.fused = dynamics or self.dynamics, dict(fused) or self.fused
    def forward(self, x):
        return self.both(x).cumsum(1) * self.rate

class Else(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.dynamics = nn.Linear(d_model, d_model)
    def fused(self, x):
        return self.dynamics(x)
    def forward(self, x):
        return self.fused(x).cumsum(1)

def states(vocab_size, d_model):
    return nn.Sequential(nn.Embedding(vocab_size, d_model), nn.Linear(d_model, 2 * d_model), Raw(2 * d_model))
"""


@pytest.fixture
def theirs(tmp_path: Any) -> str:
    """A file with models of a user's."""
    file = tmp_path / "theirs.py"
    file.write_text(THEIRS)
    return str(file)


def test_what_a_parametrisation_computes_is_no_parameter(theirs: str) -> None:
    found = named_roles(initial_model(tiny(f"{theirs}:Normed")))
    originals = {name: role for name, role in found.items() if "parametrizations" in name}
    assert set(originals.values()) == {"other"}
    assert moved(tiny(f"{theirs}:Normed", train__warmup_steps=0)).keys() == found.keys()


def test_torchs_attention_is_three_projections(theirs: str) -> None:
    spec = tiny(f"{theirs}:Attended", train__optimiser="muon")
    model = initial_model(spec)
    assert named_roles(model)["blocks.0.mixer.inner.mix.in_proj_weight"] == "hidden"
    optimiser = build_optimiser(model, spec.train)
    assert [[len(piece) for piece in pieces] for pieces in optimiser.cut.values()] == [[8, 8, 8]]


def test_torchs_gates_are_a_matrix_each(theirs: str) -> None:
    spec = tiny(f"{theirs}:Gated", train__optimiser="muon")
    check_groups(spec)  # its code asks for values
    optimiser = build_optimiser(initial_model(spec), spec.train)
    assert [[len(piece) for piece in pieces] for pieces in optimiser.cut.values()] == [[8, 8, 8]] * 2


def test_a_users_class_tells_what_is_dynamics_and_what_is_fused(theirs: str) -> None:
    spec = tiny(f"{theirs}:Told", train__optimiser="muon")
    model = initial_model(spec)
    assert named_roles(model)["blocks.0.mixer.inner.rate"] == "dynamics"
    optimiser = build_optimiser(model, spec.train)
    assert [[len(piece) for piece in pieces] for pieces in optimiser.cut.values()] == [[2, 6]]


def test_other_things_of_those_names_are_the_users_own(theirs: str) -> None:
    spec = tiny(f"{theirs}:Else", train__optimiser="muon")
    model = initial_model(spec)
    assert named_roles(model)["blocks.0.mixer.inner.dynamics.weight"] == "hidden"
    assert not build_optimiser(model, spec.train).cut
    one = initial_model(tiny(f"{theirs}:Told", model__mixer__dynamics="rate"))
    assert named_roles(one)["blocks.0.mixer.inner.rate"] == "dynamics"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dynamics": ["rat"]}, r"dynamics names no parameter or module 'rat'; did you mean 'rate'\?"),
        ({"fused": [["bot.weight", [8]]]}, r"fused names no parameter 'bot.weight'; did you mean 'both.weight'\?"),
        ({"fused": [["both.weight", [2, 2]]]}, r"fused\['both.weight'\] must add up to its 8 rows \(got \[2, 2\]\)"),
    ],
)
def test_a_wrong_name_or_cut_is_refused(theirs: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        initial_model(tiny(f"{theirs}:Told", **{f"model__mixer__{name}": told for name, told in options.items()}))


def test_a_whole_model_has_our_head_outside_of_its_hidden_matrices(theirs: str) -> None:
    model = initial_model(tiny(f"{theirs}:states"))
    found = roles(model)
    assert {name: found[p] for name, p in model.named_parameters()} == {
        "inner.0.weight": "embedding",
        "inner.1.weight": "hidden",
        "inner.1.bias": "norms",
        "inner.2.mix": "other",
        "head.weight": "other",
    }


@pytest.mark.parametrize("role", ["dynamics", "embedding", "norms"])
def test_a_factor_scales_the_step_of_its_group_alone(role: str) -> None:
    options = {"train__weight_decay": 0.0, "train__warmup_steps": 0, "train__lr": 1e-2}
    plain, slow = moved(tiny("mamba", **options)), moved(tiny("mamba", **{f"train__lr_{role}": 0.125}, **options))
    found = named_roles(initial_model(tiny("mamba")))
    assert role in found.values()
    for name, distance in slow.items():
        # AdamW's first step has the length of its rate, whatever the gradient.
        assert distance == pytest.approx(plain[name] * (0.125 if found[name] == role else 1), rel=1e-3), name


def test_a_fixed_rate_follows_the_schedule_but_not_the_rate() -> None:
    for lr in (1e-3, 1e-1):
        spec = tiny("mamba", train__lr=lr, train__fixed_lr_dynamics=1e-3, train__decay_dynamics=0.0)
        trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
        for _ in range(3):
            trainer.step()
        rates = {group["weight_decay"]: group["lr"] for group in trainer.optimiser.param_groups}
        share = learning_rate(spec.train, 2) / lr
        assert rates == {0.1: pytest.approx(lr * share), 0.0: pytest.approx(1e-3 * share)}


@pytest.mark.parametrize("scope", ["all", "matrices"])
def test_a_group_may_have_its_own_decay(scope: str) -> None:
    model = initial_model(tiny("mamba"))
    train = TrainSpec(decay_scope=scope, decay_dynamics=0.03, decay_embedding=0.2)
    decay = {id(p): g["weight_decay"] for g in build_optimiser(model, train).param_groups for p in g["params"]}
    expected = {
        "dynamics": 0.03,
        "embedding": 0.2,
        "hidden": 0.1,
        "other": 0.1,
        "norms": 0.1 if scope == "all" else 0.0,
    }
    for p, role in roles(model).items():
        assert decay[id(p)] == expected[role]


def test_every_parameter_is_trained_once_by_every_mixer() -> None:
    for mixer in MIXERS:
        model = initial_model(tiny(mixer, model__block="mixer+mlp"))
        train = TrainSpec(lr_embedding=0.1, lr_norms=0.2, decay_embedding=0.0)
        held = [p for group in build_optimiser(model, train).param_groups for p in group["params"]]
        assert len(held) == len({id(p) for p in held}) == len(list(model.parameters()))


def test_without_changes_there_is_one_group_and_the_ids_are_as_they_were() -> None:
    spec = tiny("mamba")
    assert len(build_optimiser(initial_model(spec), spec.train).param_groups) == 1
    assert "lr_dynamics" not in spec.identity()["train"]
    assert spec.id != tiny("mamba", train__lr_dynamics=0.5).id


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lr_dynamics": 0.1, "fixed_lr_dynamics": 1e-3}, "give one of them"),
        ({"lr_norms": 0.0}, "greater than 0"),
        ({"decay_embedding": -1.0}, "greater than or equal to 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tiny("mamba", **{f"train__{name}": value for name, value in fields.items()})


def test_a_rate_of_what_a_model_lacks_is_refused() -> None:
    check_groups(tiny("mamba", train__lr_dynamics=0.1))
    same = tiny("attention", train__lr=1e-3, train__fixed_lr_dynamics=1e-3)  # the rate that it would have anyway
    for spec in (tiny("attention", train__lr_dynamics=0.1), same, tiny("attention", train__decay_dynamics=0.0)):
        with pytest.raises(BadInput, match="attention has no dynamics; leave out lr_dynamics"):
            check_groups(spec)
        with pytest.raises(BadInput, match="attention has no dynamics"):
            recollect.run(spec)


def test_muon_without_a_matrix_is_refused(theirs: str) -> None:
    check_groups(tiny(f"{theirs}:Normed", train__optimiser="lion"))
    with pytest.raises(BadInput, match=r"muon is for projections, and .*Raw has none"):
        check_groups(tiny(f"{theirs}:Raw", train__optimiser="muon"))
    with pytest.raises(BadInput, match=r"model.base_width is for projections, and .*Raw has none"):
        check_groups(tiny(f"{theirs}:Raw", model__base_width=4))


def test_the_other_groups_have_their_fixed_rates_and_decays() -> None:
    train = TrainSpec(lr=2e-3, fixed_lr_embedding=1e-3, fixed_lr_norms=4e-3, decay_norms=0.0)
    groups = build_optimiser(initial_model(tiny("mamba")), train).param_groups
    assert {(group["factor"], group["weight_decay"]) for group in groups} == {(0.5, 0.1), (2.0, 0.0), (1.0, 0.1)}
    assert train.groups == ("embedding", "norms")


def test_a_hybrid_has_the_dynamics_of_the_layers_that_have_some() -> None:
    found = named_roles(initial_model(tiny(["attention", "mamba2"])))
    assert {name for name, role in found.items() if role == "dynamics"} == {
        f"blocks.1.mixer.{name}" for name in ("A_log", "D", "dt_bias")
    }


def test_a_tied_head_is_an_embedding_and_an_untied_one_a_matrix() -> None:
    model = initial_model(tiny(model__tied_head=False))
    assert roles(model)[model.head.weight] == "other"
    assert isinstance(model.embed, nn.Embedding)
    assert torch.equal(model.head_weight, model.head.weight)
