"""Training: schedules, stops, outcomes, and results that repeat to the last bit."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from recollect.errors import BadInput
from recollect.spec import RunSpec, TrainSpec
from recollect.spec.events import Done, Event, Point, Started, from_plain, to_plain
from recollect.spec.files import CHECKPOINT, WEIGHTS
from recollect.tasks.outcome import outcome
from recollect.training.checkpoint import load_weights
from recollect.training.execute import execute, initial_model
from recollect.training.optimiser import build_optimiser, matrices
from recollect.training.trainer import learning_rate
from tests.support.small import tiny

FROZEN = {"validation_loss": 2.558023691177368, "test_loss": 2.5135421752929688, "norm": 5.317168417988003}


def result(spec: RunSpec, folder: Path | None = None) -> dict[str, Any]:
    """The end of a run."""
    done = [event for event in execute(spec, folder) if isinstance(event, Done)]
    assert len(done) == 1
    return done[0].result


def test_a_tiny_run_gives_the_frozen_numbers() -> None:
    ended = result(tiny(train__lr=0.02))
    assert ended["validation_loss"] == pytest.approx(FROZEN["validation_loss"], rel=1e-4)
    assert ended["test_loss"] == pytest.approx(FROZEN["test_loss"], rel=1e-4)
    norm = math.sqrt(sum(p.pow(2).sum().item() for p in initial_model(tiny()).parameters()))
    assert norm == pytest.approx(FROZEN["norm"], rel=1e-6)


def test_the_same_spec_gives_the_same_bits() -> None:
    spec = tiny(model__dropout=0.2)
    assert result(spec) == result(spec)
    assert result(spec) != result(tiny(model__dropout=0.2, seed=7))


@pytest.mark.parametrize("stop_at", [1, 5, 8, 12])
def test_a_stopped_run_goes_on_to_the_identical_end(tmp_path: Path, stop_at: int) -> None:
    spec = tiny(model__dropout=0.2, task__rows=50, train__stop_worse=2)
    run = execute(spec, tmp_path, checkpoint_seconds=0)
    for event in run:
        if isinstance(event, Point) and event.step >= stop_at:
            break
    run.close()
    assert (tmp_path / CHECKPOINT).exists()
    events = list(execute(spec, tmp_path, checkpoint_seconds=0))
    first, last = events[0], events[-1]
    assert isinstance(first, Started)
    assert first.step >= stop_at - 1
    assert isinstance(last, Done)
    assert last.result == result(spec)


def spoil(file: Path, how: str) -> None:
    """Damage a file: cut it short, turn one bit in the middle, or in its header."""
    whole = bytearray(file.read_bytes())
    match how:
        case "cut":
            whole = whole[: len(whole) // 2]
        case "empty":
            whole = whole[:0]
        case "flipped":
            whole[len(whole) * 3 // 4] ^= 1
        case "header":
            whole[40] ^= 1
    file.write_bytes(whole)


@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "header"])
def test_a_damaged_checkpoint_is_noticed_and_the_run_starts_again(tmp_path: Path, how: str) -> None:
    spec = tiny(model__dropout=0.2)
    run = execute(spec, tmp_path, checkpoint_seconds=0)
    for event in run:
        if isinstance(event, Point) and event.step >= 8:
            break
    run.close()
    spoil(tmp_path / CHECKPOINT, how)
    first, *_, last = execute(spec, tmp_path)
    assert isinstance(first, Started)
    assert isinstance(last, Done)
    assert first.step == 0
    assert first.notice.startswith(f"damaged checkpoint: {tmp_path / CHECKPOINT}: ")
    assert first.notice.endswith("; the run starts again from step 0")
    assert "\n" not in first.notice
    assert last.result == result(spec)


def test_damaged_weights_are_never_loaded(tmp_path: Path) -> None:
    spec = tiny()
    result(spec, tmp_path)
    model = initial_model(spec)
    load_weights(model, tmp_path / WEIGHTS)
    spoil(tmp_path / WEIGHTS, "flipped")
    with pytest.raises(BadInput, match="its content is not what was written"):
        load_weights(model, tmp_path / WEIGHTS)


def test_events_pass_through_json() -> None:
    for event in execute(tiny(train__steps=2)):
        again: Event = from_plain(to_plain(event))
        assert again == event


def test_the_data_do_not_depend_on_the_model() -> None:
    from recollect.training.execute import make_task
    from recollect.training.trainer import Trainer

    batches = [
        Trainer(spec, make_task(spec.task), initial_model(spec)).feed.supply.batch(3).tokens
        for spec in (tiny(), tiny(model__d_model=16, train__lr=0.5))
    ]
    assert (batches[0] == batches[1]).all()


def test_the_learning_rate_warms_up_then_falls() -> None:
    train = TrainSpec(lr=1.0, steps=100, warmup_steps=10)
    rates = [learning_rate(train, step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == pytest.approx(1.0)
    assert rates[10] == pytest.approx(1.0)
    assert rates[55] == pytest.approx(0.5)
    assert rates[99] < 0.001
    linear = TrainSpec(lr=1.0, steps=100, warmup_steps=0, schedule="linear")
    assert learning_rate(linear, 25) == pytest.approx(0.75)
    assert learning_rate(TrainSpec(lr=1.0, schedule="constant", warmup_steps=0), 1999) == 1.0
    held = TrainSpec(lr=1.0, steps=100, warmup_steps=0, lr_hold=20)
    assert len({learning_rate(held, step) for step in range(100)}) == 5


def test_weight_decay_may_spare_everything_but_matrices() -> None:
    model = initial_model(tiny(model__block="mixer+mlp"))
    spared = build_optimiser(model, TrainSpec(decay_scope="matrices")).param_groups
    assert [group["weight_decay"] for group in spared] == [0.1, 0.0]
    assert {id(p) for p in spared[0]["params"]} == {id(p) for p in matrices(model)}
    assert all(p.dim() == 2 for p in matrices(model))
    assert id(model.embed.weight) not in {id(p) for p in matrices(model)}
    assert len(build_optimiser(model, TrainSpec(decay_scope="all")).param_groups) == 1


def test_success_stops_a_run() -> None:
    ended = result(tiny(train__stop_accuracy=0.01, train__lr=0.05, train__steps=400))
    assert ended["stopped"] == "success"
    assert ended["steps"] < 400
    on_test = result(tiny(train__stop_accuracy=0.01, train__lr=0.05, train__steps=400, train__stop_split="test"))
    assert on_test["stopped"] == "success"


def test_a_loss_that_is_not_finite_is_a_result() -> None:
    ended = result(tiny(train__lr=1e30, train__clip=None, train__warmup_steps=0))
    assert ended["outcome"] == "diverged"
    assert ended["stopped"] == "diverged"
    assert ended["test_loss"] is None
    unstopped = result(tiny(train__lr=1e30, train__clip=None, train__warmup_steps=0, train__stop_worse=None))
    assert unstopped["outcome"] == "diverged"
    assert unstopped["steps"] == 12


def test_a_loss_above_its_start_for_some_evaluations_is_divergence() -> None:
    ended = result(tiny(train__lr=3.0, train__steps=200, train__stop_worse=3, train__warmup_steps=0))
    assert ended["outcome"] == "diverged"
    assert ended["steps"] < 200


def test_curves_begin_at_step_0_and_carry_train_accuracy() -> None:
    curves = result(tiny())["curves"]
    assert curves["step"] == [0, 4, 8, 12]
    assert curves["train_accuracy"][0] is None
    assert all(0 <= value <= 1 for value in curves["train_accuracy"][1:])


def test_copying_is_judged_on_strings_characters_and_lengths(tmp_path: Path) -> None:
    sizes = {"task__max_length": 6, "task__context": 20, "task__eval_lengths": (5, 12), "task__eval_rows": 9}
    spec = tiny(task="copy", train__lr=0.02, **sizes)
    ended = result(spec, tmp_path)
    assert ended == result(spec)
    assert set(ended["evaluations"]) == {"length=5", "length=12", "duplicate=2"}
    for score in ended["evaluations"].values():
        assert set(score) == {"loss", "accuracy", "character_accuracy"}
    assert ended["test_accuracy"] <= ended["test_character_accuracy"]
    assert ended["validation_character_accuracy"] > 0
    assert "evaluations" not in result(tiny())
    assert "test_character_accuracy" not in result(tiny())


def test_a_model_that_knows_letters_but_no_string_does_not_guess() -> None:
    known: dict[str, Any] = {"loss": 1.0, "first_loss": 3.4, "floors": {"letters": 0.04}, "plateaus": {"ln V": 3.4}}
    assert outcome(accuracy=0.0, answers=0.7, **known) == "partial"
    assert outcome(accuracy=0.0, answers=0.05, **known) == "guessing"


def test_bfloat16_runs() -> None:
    assert math.isfinite(result(tiny(compute__precision="bf16"))["test_loss"])


OUTCOMES = [
    (0.995, 0.1, "solved"),
    (0.2, math.nan, "diverged"),
    (0.2, 9.0, "diverged"),
    (0.0, math.log(64), "stuck at ln V"),
    (0.02, math.log(32), "stuck at ln(V/2)"),
    (0.13, math.log(8) + 0.01, "stuck at ln K"),
    (0.9, math.log(8), "partial"),
    (0.22, 1.94, "guessing"),
    (0.6, 1.0, "partial"),
    (0.05, 3.0, "below chance"),
    (0.08, 3.0, "guessing"),
]


@pytest.mark.parametrize(("accuracy", "loss", "expected"), OUTCOMES)
def test_outcomes_follow_from_the_tasks_yardsticks(accuracy: float, loss: float, expected: str) -> None:
    floors = {"1/K": 0.125, "position only": 0.218}
    plateaus = {"ln V": math.log(64), "ln(V/2)": math.log(32), "ln K": math.log(8)}
    assert outcome(accuracy=accuracy, loss=loss, first_loss=4.2, floors=floors, plateaus=plateaus) == expected


def test_the_heap_setting_does_not_change_torch() -> None:
    from recollect.training.execute import keep_heap

    keep_heap()
    assert torch.ones(2**20).sum() == 2**20
