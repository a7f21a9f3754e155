"""Interleaved timing: what is compared takes turns, so that a noisy machine disturbs all alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def take_turns(calls: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 2) -> dict[str, float]:
    """Name -> median seconds a call."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(warm_up + rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}
