"""Muon and Lion: what one step does, what is remembered, and that a stopped run ends the same."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.spec import MIXERS, TrainSpec
from recollect.spec.events import Done, Point
from recollect.spec.files import CHECKPOINT
from recollect.tasks import make_task
from recollect.training.execute import execute, initial_model
from recollect.training.lion import Lion
from recollect.training.optimiser import AdamW, build_optimiser, fused, roles
from recollect.training.trainer import Trainer
from tests.support.mixer_rows import ROWS
from tests.support.small import tiny

STILL: dict[str, Any] = {"train__weight_decay": 0.0, "train__warmup_steps": 0, "train__lr": 1e-2, "train__clip": None}


CUT = {
    "hyena": {"in_proj.weight": [16, 16, 16]},
    "mamba": {"in_proj.weight": [32, 32], "x_proj.weight": [1, 16, 16]},
    "mamba2": {"in_proj.weight": [32, 32, 64, 64, 1]},
    "mamba3": {"in_proj.weight": [32, 32, 64, 64, 1, 1, 1, 16]},
    "gated_deltaproduct": {"k_proj.weight": [16, 16], "v_proj.weight": [16, 16]},
    "lstm": {"lstm.weight_ih_l0": [16] * 4, "lstm.weight_hh_l0": [16] * 4},
}
"""Of each mixer at width 16, the rows of the matrices in those of its parameters that are several."""


@pytest.mark.parametrize("mixer", MIXERS)
def test_muon_has_the_parts_of_a_fused_matrix_one_by_one(mixer: str) -> None:
    made = build_mixer(mixer, d_model=16, length=8)
    names = {p: name for name, p in made.named_parameters()}
    assert {names[p]: sizes for p, sizes in fused(made).items()} == CUT.get(mixer, {})


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_fused_matrix_is_cut_without_a_rest(mixer: str) -> None:
    for _, options in (row for row in ROWS if row[0] == mixer):
        cut = fused(build_mixer(mixer, d_model=16, length=8, **options))
        assert all(sum(sizes) == len(p) and min(sizes) > 0 for p, sizes in cut.items())


def test_muon_has_the_projections_inside_of_blocks_and_adamw_the_rest() -> None:
    model = initial_model(tiny("mamba", model__tied_head=False))
    adamw, muon = build_optimiser(model, TrainSpec(optimiser="muon")).parts
    assert (type(adamw), type(muon)) == (AdamW, torch.optim.Muon)
    found = roles(model)
    held = {id(p) for group in adamw.param_groups for p in group["params"]}
    assert held == {id(p) for p, role in found.items() if role != "hidden"}
    shapes = sorted(tuple(p.shape) for group in muon.param_groups for p in group["params"])
    assert shapes == sorted([(16, 8), (16, 8), (1, 16), (16, 16), (16, 16), (8, 16)])  # x, z; δ, B, C; W_out


def test_adamw_steps_as_torchs_own_does() -> None:
    ends = []
    for made in (AdamW, torch.optim.AdamW):
        p = torch.nn.Parameter(torch.linspace(-1, 1, 8))
        optimiser = made([p], lr=1e-2, weight_decay=0.1, fused=True)
        for step in range(3):
            p.grad = torch.cos(p.detach() + step)
            optimiser.step()
        ends.append((p.detach(), optimiser.state_dict()["state"][0]["exp_avg"]))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*ends, strict=True))


def alone(before: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    """Where torch's Muon takes a matrix that is a parameter of its own."""
    p = torch.nn.Parameter(before.clone())
    p.grad = grad
    torch.optim.Muon([p], lr=1e-2, weight_decay=0.0, adjust_lr_fn="match_rms_adamw").step()
    return p.detach()


def test_muon_takes_every_piece_of_a_fused_matrix_for_a_matrix() -> None:
    spec = tiny("mamba", model__d_model=32, train__optimiser="muon", **STILL)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    weight = trainer.model.blocks[0].mixer.in_proj.weight
    before = weight.detach().clone()
    trainer.step()
    assert weight.grad is not None
    apart = torch.cat([alone(*pair) for pair in zip(before.split(64), weight.grad.split(64), strict=True)])
    torch.testing.assert_close(weight.detach(), apart, rtol=0, atol=0)
    assert (weight.detach() - alone(before, weight.grad)).abs().max() > 1e-4
    for piece in (weight.detach() - before).split(64):
        longest = torch.linalg.svdvals(piece).max().item() / (1e-2 * 0.2 * math.sqrt(64))
        assert 0.5 < longest < 1.5, "the scale at which a step is as long as AdamW's"


def test_a_step_of_lion_has_one_length_and_follows_the_sign() -> None:
    p = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0]))
    lion = Lion([{"params": [p], "weight_decay": 0.5}], lr=0.1, betas=(0.9, 0.99))
    p.grad = torch.tensor([0.3, -5.0, 0.0])
    lion.step()
    torch.testing.assert_close(p.detach(), torch.tensor([0.95 - 0.1, -1.9 + 0.1, 2.85]))
    torch.testing.assert_close(lion.state[p]["momentum"], 0.01 * p.grad)
    p.grad = torch.tensor([-0.3, -5.0, 1.0])
    lion.step()  # the momentum is yet too small to turn the first sign
    torch.testing.assert_close(p.detach(), torch.tensor([0.95 * 0.85 + 0.1, -0.95 * 1.8 + 0.1, 0.95 * 2.85 - 0.1]))


@pytest.mark.parametrize("optimiser", ["muon", "lion"])
def test_a_factor_and_a_decay_reach_every_optimiser(optimiser: str) -> None:
    spec = tiny("mamba", train__optimiser=optimiser, train__lr_dynamics=0.5, train__decay_dynamics=0.0)
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    trainer.step()
    found = {(group["factor"], group["weight_decay"]) for group in trainer.optimiser.param_groups}
    assert found == {(1.0, 0.1), (0.5, 0.0)}


@pytest.mark.parametrize("optimiser", ["muon", "lion"])
@pytest.mark.parametrize("mixer", ["attention", "mamba"])
def test_a_stopped_run_goes_on_to_the_identical_end(tmp_path: Path, mixer: str, optimiser: str) -> None:
    spec = tiny(mixer, train__optimiser=optimiser, train__lr=0.01)
    run = execute(spec, tmp_path, checkpoint_seconds=0)
    for event in run:
        if isinstance(event, Point) and event.step >= 5:
            break
    run.close()
    assert (tmp_path / CHECKPOINT).exists()
    *_, resumed = execute(spec, tmp_path, checkpoint_seconds=0)
    *_, whole = execute(spec)
    assert isinstance(resumed, Done)
    assert isinstance(whole, Done)
    assert resumed.result == whole.result
    *_, plain = execute(tiny(mixer, train__lr=0.01))
    assert isinstance(plain, Done)
    assert plain.result != whole.result


def test_what_is_remembered_is_numbered_through() -> None:
    spec = tiny("mamba", train__optimiser="muon")
    trainer = Trainer(spec, make_task(spec.task), initial_model(spec))
    trainer.step()
    state = trainer.optimiser.state()
    names: dict[int, set[str]] = {}
    for key in state:
        number, _, name = key.partition(".")
        names.setdefault(int(number), set()).add(name)
    count = sum(len(group["params"]) for group in trainer.optimiser.param_groups)
    assert sorted(names) == list(range(count))
    assert sum(found == {"momentum_buffer"} for found in names.values()) == 6


def test_a_momentum_without_muon_is_refused() -> None:
    with pytest.raises(BadInput, match="momentum is Muon's"):
        tiny(train__momentum=0.9)
