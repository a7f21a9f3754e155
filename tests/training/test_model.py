"""The model: asked positions only, hybrids, blocks, positions, initialisation."""

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.ops.answer_loss import answer_loss_torch
from recollect.spec import MIXERS, RunSpec
from recollect.spec.compose import make_spec
from recollect.tasks import make_task
from recollect.tasks.streams import generator
from recollect.training.execute import initial_model
from recollect.training.feed import Rows, parted, place
from recollect.training.learner import Learner
from recollect.training.model import build_model, sinusoids, sizes
from recollect.training.trainer import Trainer, features_of
from tests.support.small import tiny

STACKS: dict[str, RunSpec] = {
    "mixer": tiny(model__n_layers=2),
    "mixer+mlp": tiny(model__n_layers=2, model__block="mixer+mlp"),
    "mamba's own block": tiny(model__block="mamba", model__n_layers=2),
    "untied head": tiny(model__tied_head=False, model__positions="sinusoidal"),
    "channel mix": tiny(model__block="mixer+mlp", model__mlp="rwkv4", model__n_layers=2),
    "hybrid": tiny(["attention", "mamba"], model__block=["mixer+mlp", "mamba"]),
    "one query": tiny(task="ar"),
    "packed strings": tiny(task="copy", model__n_layers=2, task__max_length=8, task__context=40),
}


def moved(spec: RunSpec) -> Learner:
    """The model of a spec, every weight a little away from where it starts."""
    model = initial_model(spec).double()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.1 * torch.randn(p.shape, dtype=p.dtype, generator=torch.Generator().manual_seed(p.numel())))
    return model


@pytest.mark.parametrize("stack", STACKS)
def test_the_asked_positions_give_the_loss_and_gradients_of_the_full_computation(stack: str) -> None:
    spec = STACKS[stack]
    task, model = make_task(spec.task), moved(spec)
    tokens, at, target, *_ = place(task.draw(generator(0, "data"), 8), torch.device("cpu"))
    labels = torch.full_like(tokens, -100).scatter_(1, at, target)
    full = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten(), ignore_index=-100)
    expected = torch.autograd.grad(full, list(model.parameters()))
    loss, _ = answer_loss_torch(model.features(tokens, at).flatten(0, 1), model.head_weight, target.flatten())
    torch.testing.assert_close(loss, full)
    for ours, judge in zip(torch.autograd.grad(loss, list(model.parameters())), expected, strict=True):
        torch.testing.assert_close(ours, judge, rtol=1e-8, atol=1e-12)


def loss_and_gradients(model: Learner, rows: Rows) -> tuple[torch.Tensor, ...]:
    loss, _ = answer_loss_torch(features_of(model, rows).flatten(0, 1), model.head_weight, rows.target.flatten())
    return (loss, *torch.autograd.grad(loss, list(model.parameters())))


@pytest.mark.parametrize("stack", STACKS)
def test_rows_that_are_read_to_their_last_question_give_the_loss_and_gradients_of_whole_ones(stack: str) -> None:
    spec = STACKS[stack]
    model, batch = moved(spec), make_task(spec.task).draw(generator(0, "data"), 200)
    whole, cut = (send(batch, torch.device("cpu")) for send in (place, parted))
    lengths = [length for _, length in cut.parts]
    assert len(lengths) == 3
    assert lengths == sorted(lengths)
    assert lengths[0] < spec.task.length
    for ours, judge in zip(loss_and_gradients(model, cut), loss_and_gradients(model, whole), strict=True):
        torch.testing.assert_close(ours, judge, rtol=1e-8, atol=1e-12)


def test_rows_come_in_parts_only_where_that_changes_nothing_and_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.training.trainer.trace", lambda model: None)

    def parts(**fields: Any) -> int:
        spec = tiny(**{"train__batch_size": 128, **fields})
        return len(Trainer(spec, make_task(spec.task), initial_model(spec)).feed.rows(0).parts)

    assert (parts(), parts(train__batch_size=127)) == (2, 0)
    assert (
        parts(model__dropout=0.1)
        == parts(model__mixer__dropout=0.1)
        == parts(compute__compile=True, compute__kernel="torch")
        == 0
    )
    assert parts(mixer="examples/my_mixer.py:GatedAverage") == 0


def test_parameters_are_counted_once_and_without_memory() -> None:
    spec = tiny()
    V, L, D = 20, 8, 8
    assert build_model(spec).n_params() == V * D + L * D + 4 * (D * D + D) + 4 * D
    assert build_model(spec).state_size() == 2 * L * D


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_model_is_measured_without_its_memory(mixer: str) -> None:
    spec = tiny(mixer)
    model = build_model(spec)
    assert sizes(spec) == (model.n_params(), model.state_size())
    assert sizes(tiny(mixer, model__d_model=4096, model__n_layers=12))[0] > 10**8


TABLE_1 = [("attention", 12, 1024, 150), ("mamba", 12, 1024, 80), ("mamba", 24, 1024, 150), ("mamba", 12, 1408, 150)]


@pytest.mark.parametrize(("mixer", "n_layers", "d_model", "millions"), TABLE_1)
def test_the_papers_copy_models_have_their_sizes(mixer: str, n_layers: int, d_model: int, millions: int) -> None:
    fields = {"model.n_layers": n_layers, "model.d_model": d_model}
    n_params, _ = sizes(make_spec("copy", mixer, fields, protocol="jelassi"))
    assert n_params == pytest.approx(millions * 1e6, rel=0.1)


def test_native_initialisation_survives_the_model() -> None:
    from recollect.mixers import build_mixer

    spec = tiny(model__d_model=64)
    torch.manual_seed(5)
    alone = build_mixer("attention", d_model=64, length=8)
    torch.manual_seed(5)
    model = build_model(spec)
    assert model.embed.weight.std().item() == pytest.approx(0.02, rel=0.1)
    bound = 64**-0.5
    weight = model.blocks[0].mixer.q_proj.weight
    assert weight.abs().max() <= bound
    assert weight.std().item() == pytest.approx(alone.q_proj.weight.std().item(), rel=0.1)


@pytest.mark.parametrize("mode", ["gpt2", "zoology-legacy"])
def test_outer_initialisation_redraws_every_linear(mode: str) -> None:
    model = initial_model(tiny(model__d_model=64, model__n_layers=2, model__init=mode, model__block="mixer+mlp"))
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            scale = 0.5 if name.endswith(("out_proj", "fc2")) else 1.0
            assert module.weight.std().item() == pytest.approx(0.02 * scale, rel=0.1), name
            assert module.bias.abs().max() == 0


def test_positions_are_added_to_the_embedding() -> None:
    table = sinusoids(50, 6)
    t, i = 7, 1
    assert table[t, 2 * i].item() == pytest.approx(torch.sin(torch.tensor(t * 10000 ** (-2 * i / 6))).item(), abs=1e-6)
    assert table[t, 2 * i + 1].item() == pytest.approx(
        torch.cos(torch.tensor(t * 10000 ** (-2 * i / 6))).item(), abs=1e-6
    )
    counts = {kind: build_model(tiny(model__positions=kind)).n_params() for kind in ("none", "sinusoidal", "learned")}
    assert counts["none"] == counts["sinusoidal"] == counts["learned"] - 8 * 8


def test_sinusoids_may_be_as_small_as_the_embedding_and_other_positions_have_no_amplitude() -> None:
    small, plain = (
        tiny(model__positions="sinusoidal", model__position_amplitude=amplitude) for amplitude in (0.02, 1.0)
    )
    assert plain.id == tiny(model__positions="sinusoidal").id != small.id
    table = build_model(small).position
    assert torch.equal(table, 0.02 * sinusoids(8, 8))
    assert 0.5 < table.std() / build_model(small).embed.weight.std() < 1
    with pytest.raises(BadInput, match=r"position_amplitude is for sinusoidal positions \(got positions learned\)"):
        tiny(model__positions="learned", model__position_amplitude=0.02)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    weights: list[Any] = [initial_model(tiny(seed=seed)).embed.weight for seed in (1, 1, 2)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_mixers_may_differ_from_layer_to_layer() -> None:
    model = build_model(tiny(["attention", "mamba", "attention"]))
    assert [type(block.mixer).__name__ for block in model.blocks] == ["Attention", "Mamba", "Attention"]
