"""The scales that most studies share; a study changes what its question needs."""

from collections.abc import Mapping
from typing import Any

from recollect.spec.protocols import PAPER as PROTOCOL
from recollect.spec.protocols import ZOOLOGY
from recollect.spec.rates import on_lattice
from recollect.studies.parts import Scale

SEEDS = PROTOCOL.seeds
PAIRS: tuple[Mapping[str, Any], ...] = tuple(
    {"task.length": length, "task.n_pairs": pairs} for length, pairs in ((64, 4), (128, 8), (256, 16), (512, 64))
)
WIDTHS = (64, 128, 256, 512, 1024, 2048)
ZOOLOGYS = ZOOLOGY.lrs


def rates(low: float, high: float, per_decade: int) -> tuple[float, ...]:
    """Learning rates from 10^low to 10^high, evenly spaced."""
    count = round((high - low) * per_decade)
    return tuple(on_lattice(low + i / per_decade) for i in range(count + 1))


def shapes(widths: tuple[int, ...], *depths: int) -> tuple[tuple[int, int], ...]:
    """Every width at every depth."""
    return tuple((width, depth) for depth in depths for width in widths)


DENSE = rates(-5, -1, 4)
WIDE = rates(-4, -1, 2)
SPAN = (1e-5, 1.0)
"""Wide enough for DeltaNet, and for what a remedy may add to any window."""

PAPER = Scale(
    protocol="paper",
    remark="the paper's learning rates were not printed",
    lrs=DENSE,
    seeds=SEEDS,
    settings=PAIRS,
    shapes=shapes(WIDTHS, 2),
)
DESK = Scale(
    protocol="paper",
    lrs=rates(-3.5, -1.5, 2),
    seeds=SEEDS[:3],
    settings=PAIRS[:1],
    shapes=((64, 2),),
    fields={"train.epochs": 16, "train.stop_accuracy": 0.99},
)
TWO_RATES = rates(-2.5, -2, 2)
"""Where two are to do: both lie in the windows of attention and of Mamba at the paper's own cell."""
LAPTOP = Scale(protocol="laptop", lrs=rates(-3, -2, 2), seeds=SEEDS[:3], span=SPAN)
SMOKE = Scale(
    protocol="laptop",
    remark="only tells that the study runs",
    lrs=(1e-3, 1e-2),
    seeds=(42,),
    settings=({"task.length": 8, "task.n_pairs": 2, "task.vocab_size": 16},),
    shapes=((16, 2),),
    fields={"train.steps": 4, "train.eval_every": 2, "train.batch_size": 4, "task.validation_rows": 8}
    | {"task.test_rows": 8},
)
