"""What a training step asks of a GPU, counted on torch's `meta` device, which knows shapes and computes nothing.

Nothing here needs the device, and nothing was measured on one. A card does the counted work in between two times: the
larger of arithmetic, memory and launches, if they overlap and each is done at its peak; and all of them one after the
other, arithmetic and memory at half of their peak, launches at a slow host's.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from recollect.spec import ForeignOptions, RunSpec, WholeOptions
from recollect.tasks import make_task
from recollect.tasks.streams import generator
from recollect.training.costs import by_turns, tokens, weights
from recollect.training.feed import Rows
from recollect.training.model import build_model
from recollect.training.trainer import EVALUATION_ROWS, loss_at

NO_KERNEL = ("_unsafe_view", "profiler::", "empty", "new_empty", "detach", "lift_fresh", "alias", "resize", "set_")
BUDGET = 3.0
"""Seconds of counting, after which further cells are scaled from those that were counted."""
ADAMW = 7
"""Numbers that AdamW reads and writes for a parameter, in two kernels."""


class Card(NamedTuple):
    """A GPU by its maker's numbers, and what starting a kernel costs the host at least and at most."""

    name: str
    flops: dict[str, float]  # a second, by precision
    bandwidth: float  # bytes a second
    launch: tuple[float, float]  # seconds

    def about(self, precision: str) -> str:
        """The numbers that are used."""
        few, many = (round(seconds * 1e6) for seconds in self.launch)
        peak = f"{self.flops[precision] / 1e12:g} TFLOP/s {precision}"
        return f"{self.name}: {peak}, {self.bandwidth / 1e9:,.0f} GB/s, {few} to {many} µs a kernel"


A100 = Card("A100 (40 GB)", {"fp32": 19.5e12, "tf32": 156e12, "bf16": 312e12}, 1555e9, (4e-6, 12e-6))


class Work(NamedTuple):
    """Of one step."""

    flops: int
    bytes: int
    launches: int

    def seconds(self, card: Card, precision: str) -> tuple[float, float]:
        """At least and at most."""
        sums, memory = self.flops / card.flops[precision], self.bytes / card.bandwidth
        fast, slow = (self.launches * seconds for seconds in card.launch)
        return max(sums, memory, fast), 2 * (sums + memory) + slow

    def scaled(self, from_: RunSpec, to: RunSpec) -> "Work":
        """Of a step of another size: arithmetic goes with the weights, bytes with the width, both with the tokens."""
        rows = to.train.batch_size * to.task.length / (from_.train.batch_size * from_.task.length)
        wider = to.model.d_model * to.model.n_layers / (from_.model.d_model * from_.model.n_layers)
        return Work(
            round(self.flops * rows * weights(to) / weights(from_)), round(self.bytes * rows * wider), self.launches
        )


class Counted(TorchDispatchMode):
    """Adds up the operations of matrix products, the bytes that kernels read and write, and the kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.flops, self.bytes, self.kernels = 0, 0, dict[str, int]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        name = func._schema.name.removeprefix("aten::")
        self.see(name, tree_leaves((args, kwargs, made)))
        if func._overloadpacket in flop_registry:
            self.flops += flop_registry[func._overloadpacket](*args, **kwargs, out_val=made)
        if not func.is_view and not name.startswith(NO_KERNEL):
            self.kernels[name] = self.kernels.get(name, 0) + 1
            touched = (leaf for leaf in tree_leaves((args, kwargs, made)) if isinstance(leaf, Tensor))
            self.bytes += sum(tensor.numel() * tensor.element_size() for tensor in touched)
        return made

    def see(self, name: str, leaves: list[Any]) -> None:
        """Called with everything that an operation reads and writes."""

    @property
    def count(self) -> int:
        """All kernels."""
        return sum(self.kernels.values())


def count_step(spec: RunSpec) -> Work:
    """The work of one step of a spec on a device, in the forms that run there."""
    there = spec.model_copy(update={"compute": spec.compute.model_copy(update={"kernel": "torch"})})
    asked = make_task(spec.task).draw(generator(spec.seed, "data"), 1).at.shape[1]
    with torch.device("meta"):
        model = build_model(there)
        at = torch.zeros(spec.train.batch_size, asked, dtype=torch.long)
        tokens = torch.zeros(spec.train.batch_size, spec.task.length, dtype=torch.long)
    with Counted() as seen:
        loss_at(model, Rows(tokens, at, at, None, 0, 0, 0), there)[0].backward()
    return Work(seen.flops, seen.bytes + 4 * ADAMW * model.n_params(), seen.count + 2)


def gpu_hours(spec: RunSpec, work: Work | None = None, card: Card = A100) -> tuple[float, float]:
    """Hours of a run to its budget, at least and at most; an evaluation costs a third of the steps of as many rows."""
    train = spec.train
    parts = -(-spec.task.validation_rows // EVALUATION_ROWS) * EVALUATION_ROWS / train.batch_size
    steps = train.steps + (train.steps // train.eval_every + 1) * parts / 3
    low, high = (steps * seconds / 3600 for seconds in (work or count_step(spec)).seconds(card, spec.compute.precision))
    return low, high


def count_cells(specs: Sequence[RunSpec]) -> tuple[dict[RunSpec, Work], int]:
    """The work of a step of every cell, each given by a run, and how many were counted within the budget.

    The largest of every mixer come first: they take most of the time. The others are scaled from the next larger one.
    Cells whose code cannot be counted are left out.
    """
    found: dict[RunSpec, Work] = {}
    last: dict[str, RunSpec] = {}
    counted, until = 0, time.monotonic() + BUDGET
    for spec in by_turns(sorted(specs, key=lambda spec: weights(spec) * tokens(spec), reverse=True)):
        if spec.model.mixer_name in last and time.monotonic() > until:
            larger = last[spec.model.mixer_name]
            found[spec] = found[larger].scaled(larger, spec)
        elif (work := try_count(spec)) is not None:
            found[spec], counted = work, counted + 1
            last[spec.model.mixer_name] = spec
    return found, counted


def try_count(spec: RunSpec) -> Work | None:
    """The work of one step; None for a whole model of a user, and for a mixer that asks for more than shapes."""
    if isinstance(spec.model.mixer, WholeOptions):
        return None
    try:
        return count_step(spec)
    except Exception:
        if any(isinstance(mixer, ForeignOptions) for mixer in spec.model.mixers):
            return None
        raise
