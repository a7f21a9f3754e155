"""What a step costs: time is only told, memory is counted."""

import torch
from torch import nn

from recollect.spec import RunSpec
from recollect.training.burden import burdens, kept_bytes, ready
from tests.support.small import tiny


def kept(spec: RunSpec) -> int:
    """The bytes of one step."""
    return kept_bytes(ready(spec))


def test_what_is_kept_grows_with_the_rows_and_not_with_the_parameters() -> None:
    small, large = kept(tiny(train__batch_size=8)), kept(tiny(train__batch_size=16))
    assert 1.8 * small < large <= 2 * small
    wider_vocabulary = kept(tiny(task__vocab_size=40))
    assert abs(wider_vocabulary - small) < 0.3 * small


def test_a_memory_is_counted_once_and_parameters_never() -> None:
    layer = nn.Linear(3, 5)
    x = torch.ones(7, 3)

    class Step:
        model = layer

        def step(self) -> None:
            hidden = layer(x)
            (hidden.sin() * hidden.view(-1).view(7, 5)).sum().backward()

    floats = 7 * 3 + 2 * 7 * 5  # x; hidden, kept by the sine and by the product; the sine
    assert kept_bytes(Step()) == 4 * floats  # type: ignore[arg-type]


def test_every_model_is_measured_under_its_label_whatever_its_budget() -> None:
    found = burdens({"one": tiny(), "two": tiny("mamba", train__steps=1)})
    assert list(found) == ["one", "two"]
    assert all(one.milliseconds > 0 and one.kept > 0 for one in found.values())
