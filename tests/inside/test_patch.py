"""Interventions: 1 where the information is, 0 elsewhere."""

import pytest
import torch

from recollect.inside.patch import answer, interchange, question, sites, without_taps
from recollect.tasks import make_task
from recollect.tasks.streams import generator
from recollect.training.execute import initial_model
from tests.support import wired
from tests.support.small import tiny

CPU = torch.device("cpu")


def test_interchange_on_a_wired_induction_head() -> None:
    model, task = wired.induction_head(), make_task(wired.spec().task)
    batch = task.draw(generator(0, "test"), 16)
    asked = question(batch, task.places(batch), CPU)
    found = interchange(model, asked)
    through = {("0 mixer", "value"), ("0 stream", "value"), ("1 mixer", "query"), ("1 stream", "query")}
    for place, ratio in found.ratios.items():
        assert ratio == pytest.approx(1.0 if place in through else 0.0, abs=0.02), place
    assert found.clean > found.corrupt + 1


def test_the_corrupt_row_lacks_the_asked_key_and_nothing_else() -> None:
    task = make_task(tiny(task__vocabulary="split").task)
    batch = task.draw(generator(0, "test"), 32)
    asked = question(batch, task.places(batch), CPU)
    assert (asked.where["query"] > asked.where["behind"]).all()
    differ = asked.tokens != asked.corrupt
    assert (differ.sum(1) == 1).all()
    assert (differ.long().argmax(1) == asked.where["key"]).all()
    each = torch.arange(32)
    new = asked.corrupt[each, asked.where["key"]]
    assert not (asked.tokens == new[:, None]).any()
    assert (new < 10).all()  # a key, as keys are the lower half


def test_everything_put_back_at_once_is_the_clean_answer() -> None:
    spec = tiny("mamba", model__n_layers=2, model__block="mixer+mlp")
    task, model = make_task(spec.task), initial_model(spec).eval()
    batch = task.draw(generator(0, "test"), 8)
    asked = question(batch, task.places(batch), CPU)
    assert interchange(model, asked).ratios == {}  # it recalls nothing, so that nothing is lost
    found = interchange(model, asked, least=0)
    assert set(sites(model)) == {f"{layer} {name}" for layer in (0, 1) for name in ("conv", "mixer", "mlp", "stream")}
    assert found.ratios["1 stream", "query"] == pytest.approx(1, abs=1e-3)
    assert found.ratios["1 stream", "key"] == 0


def test_a_tap_that_carries_nothing_is_not_missed_and_weights_come_back() -> None:
    spec = tiny("mamba")
    task, model = make_task(spec.task), initial_model(spec).eval()
    batch = task.draw(generator(0, "test"), 8)
    asked = question(batch, task.places(batch), CPU)
    conv = sites(model)["0 conv"]
    with torch.no_grad():
        conv.weight[:, :-2] = 0  # lags 0 and 1 are left
    before = {name: value.clone() for name, value in model.state_dict().items()}
    judge = lambda: answer(model, asked.tokens, asked)  # noqa: E731
    with torch.no_grad():
        whole = judge()
    values = without_taps(model, judge)["0 conv"]
    assert [value == whole for value in values] == [False, False, True, True]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
