"""The scales of the studies that copy strings."""

from dataclasses import replace

from recollect.studies.parts import Scale
from recollect.studies.scales import DENSE, LAPTOP, SMOKE, rates

ROPE = {"model.mixer.positions": "rope"}
SHORT = {"task.min_length": 4, "task.max_length": 8, "task.context": 40, "task.eval_lengths": (4, 8, 16)}
SPAN = (1e-5, 1e-1)
"""Copying is learned at lower rates than recall."""

COPY_PAPER = Scale(
    protocol="jelassi",
    remark="the paper's sizes, the rest as Jelassi et al. train; learning rates and seeds were not printed",
    lrs=DENSE,
    seeds=LAPTOP.seeds,
    shapes=((1024, 12),),
)
COPY_DESK = Scale(
    protocol="jelassi",
    lrs=rates(-3.5, -1.5, 2),
    seeds=LAPTOP.seeds,
    shapes=((128, 2),),
    span=SPAN,
    fields={"train.batch_size": 32},
)
COPY_LAPTOP = Scale(
    protocol="laptop",
    lrs=rates(-3.5, -2, 2),
    seeds=LAPTOP.seeds,
    shapes=((64, 2),),
    span=SPAN,
    fields={**SHORT, "train.steps": 1500, "train.batch_size": 32},
)
COPY_SMOKE = replace(
    SMOKE,
    settings=({"task.min_length": 2, "task.max_length": 4, "task.context": 12, "task.n_letters": 4},),
    fields={**SMOKE.fields, "task.eval_lengths": (4, 8), "task.eval_rows": 4},
)
