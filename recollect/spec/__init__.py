"""Specs: frozen, complete descriptions; nothing here imports torch."""

from recollect.spec.base import Frozen, canonical
from recollect.spec.compose import make_spec
from recollect.spec.compute import ComputeSpec
from recollect.spec.mixers import MIXERS, ForeignOptions, MixerOptions, WholeOptions
from recollect.spec.model import ModelSpec
from recollect.spec.names import mixer_options, task_options
from recollect.spec.run import NUMERICS, RunSpec
from recollect.spec.tasks import TASKS, ForeignTaskOptions, TaskOptions
from recollect.spec.tasks.recall import RecallOptions
from recollect.spec.train import TrainSpec

__all__ = [
    "MIXERS",
    "NUMERICS",
    "TASKS",
    "ComputeSpec",
    "ForeignOptions",
    "ForeignTaskOptions",
    "Frozen",
    "MixerOptions",
    "ModelSpec",
    "RecallOptions",
    "RunSpec",
    "TaskOptions",
    "TrainSpec",
    "WholeOptions",
    "canonical",
    "make_spec",
    "mixer_options",
    "task_options",
]
