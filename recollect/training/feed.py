"""From the rows that a task draws to tensors on the device that trains, without making that device wait.

On a CPU a batch is drawn and turned into tensors when its step comes. Elsewhere a fixed set lies on the device and a
step sends the numbers of its rows; fresh rows are drawn one step ahead, in a thread, and copied from pinned memory.

A row is of no use after its last question. Where the model allows it, a CPU's rows are sorted by that and computed in
parts, each only as far as it is asked.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from recollect.tasks import IGNORED, Batch, Supply

PART = 64
"""Rows of a part, at least: fewer cost more calls than their ends save."""


class Rows(NamedTuple):
    """A batch on its device, and what is known of it without asking the device."""

    tokens: Tensor  # (B, L)
    at: Tensor  # (B, Q)
    target: Tensor  # (B, Q)
    string: Tensor | None  # (B, Q): the answer's string in its row, 0 where nothing is asked
    answers: int
    strings: int  # of answers that only count together; an answer may stand alone
    most: int  # strings in a row
    parts: tuple[tuple[slice, int], ...] = ()  # rows that are computed together, and how far; none: all rows whole


def count(batch: Batch) -> tuple[int, int, int]:
    """Answers, strings, and strings in a row, at most."""
    asked = batch.target != IGNORED
    if batch.string is None:
        return int(asked.sum()), int(asked.sum()), 0
    most = int(batch.string.max()) + 1
    number = batch.string + np.arange(len(batch))[:, None] * most
    return int(asked.sum()), len(np.unique(number[asked])), most


def place(batch: Batch, device: torch.device) -> Rows:
    """A batch on the device."""
    return Rows(*_sent(batch, device), *count(batch))


def parted(batch: Batch, device: torch.device) -> Rows:
    """A batch on the device, rows that are asked early before the others, and parts of it that end where they may."""
    count = len(batch) // PART
    if count < 2:
        return place(batch, device)
    reach = batch.at.max(axis=1) + 1
    order = np.argsort(reach, kind="stable")
    edges = np.linspace(0, len(batch), count + 1).astype(int)
    parts = tuple((slice(a, b), int(reach[order[b - 1]])) for a, b in pairwise(edges))
    return place(batch[order], device)._replace(parts=parts)


def _sent(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    tokens, at, target = (send(part, device) for part in (batch.tokens, batch.at, batch.target))
    if batch.string is None:
        return tokens, at, target, None
    return tokens, at, target, send(np.where(batch.target != IGNORED, batch.string, 0), device)


def send(numbers: NDArray[np.integer], device: torch.device) -> Tensor:
    """Whole numbers on the device, copied from pinned memory where that spares a wait, and only there made long."""
    here = torch.from_numpy(numbers)
    if device.type == "cuda":
        here = here.pin_memory()
    return here.to(device, non_blocking=device.type == "cuda").long()


class Feed:
    """The rows of every step on the device: `rows(step)` depends on the supply alone, whatever was asked before."""

    def __init__(self, supply: Supply, device: torch.device, by_prefix: bool = False) -> None:
        self.supply, self.device = supply, device
        self.place = parted if by_prefix and device.type == "cpu" else place
        fixed = None if device.type == "cpu" else supply.fixed
        self.resident = None if fixed is None else _sent(fixed, device)
        self.ahead: tuple[int, Future[Batch]] | None = None
        self.thread = ThreadPoolExecutor(1) if device.type != "cpu" and fixed is None else None

    def rows(self, step: int) -> Rows:
        """The rows of a step."""
        if self.resident is None:
            return self.place(self._drawn(step), self.device)
        index = send(self.supply.numbers(step), self.device)
        tokens, at, target, string = (part if part is None else part[index] for part in self.resident)
        assert tokens is not None and at is not None and target is not None  # noqa: PT018
        return Rows(tokens, at, target, string, *count(self.supply.batch(step)))

    def _drawn(self, step: int) -> Batch:
        """The batch of a step, and the next one under way."""
        if self.thread is None:
            return self.supply.batch(step)
        known, self.ahead = self.ahead, (step + 1, self.thread.submit(self.supply.batch, step + 1))
        return known[1].result() if known is not None and known[0] == step else self.supply.batch(step)
