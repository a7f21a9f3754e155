"""The time of a run, from steps with a part of its rows: by a clock that the test winds."""

from types import SimpleNamespace

import pytest

from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from recollect.training import burden, costs


class Clock:
    """Steps that take what they are said to take."""

    def __init__(self) -> None:
        self.now, self.rows = 0.0, 0

    def ready(self, spec: RunSpec) -> SimpleNamespace:
        """A trainer: two seconds of its step are the optimiser's, each row takes a tenth, to evaluate a hundredth."""
        self.rows, judged = spec.train.batch_size, spec.task.validation_rows
        return SimpleNamespace(
            step=lambda: self.wait(2 + 0.1 * self.rows),
            optimiser=SimpleNamespace(step=lambda rate: self.wait(2)),
            point=lambda: self.wait(0.01 * judged),
        )

    def wait(self, seconds: float) -> None:
        """So long."""
        self.now += seconds


@pytest.mark.parametrize("batch", [512, 64])
def test_only_what_rows_cost_grows_with_them(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(burden, "ready", clock.ready)
    monkeypatch.setattr(costs.time, "process_time", lambda: clock.now)
    sizes = {"train.batch_size": batch, "train.epochs": 1, "model.n_layers": 2, "model.d_model": 256}
    spec = make_spec("mqar", "attention", sizes, protocol="paper")
    looks = spec.train.steps // spec.train.eval_every + 1
    expected = spec.train.steps * (2 + 0.1 * batch) + looks * 0.01 * spec.task.validation_rows
    assert costs.time_run(spec) == pytest.approx(expected)
    assert clock.rows == min(batch, int(costs.LARGEST / (costs.weights(spec) * spec.task.length))) <= batch
