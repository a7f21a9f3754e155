"""Tests run from the ground up, room by room: what fails first says most.

One thread each, unless a test asks for more, as runs do: tensors here are so small that a second one only waits.
"""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOMS = (
    "spec",
    "tasks",
    "ops",
    "mixers",
    "training",
    "inside",
    "store",
    "window",
    "studies",
    "claims",
    "sweep",
    "report",
    "cli",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The rooms, then the house as a whole."""
    items.sort(key=lambda item: [*ROOMS, item.path.parent.name].index(item.path.parent.name))


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is as wide as in a pipe, whoever runs the tests and in how many processes."""
    monkeypatch.delenv("COLUMNS", raising=False)
