"""Tests run from the ground up, room by room: what fails first says most."""

import pytest

ROOMS = ("spec", "tasks", "ops", "mixers", "training", "store", "window", "studies", "claims", "sweep", "report", "cli")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The house as a whole first, then its rooms."""
    items.sort(key=lambda item: ROOMS.index(item.path.parent.name) if item.path.parent.name in ROOMS else -1)
