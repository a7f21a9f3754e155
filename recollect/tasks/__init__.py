"""Tasks: each one file with an example drawn in its docstring; `build_task` makes them by name."""

from typing import Any

from pydantic import ValidationError

from recollect.errors import sentence, unknown
from recollect.spec import TASK_OPTIONS, TaskOptions
from recollect.spec.tasks import (
    AROptions,
    CopyOptions,
    DuplicateNgramOptions,
    MQAROptions,
    PrefixNgramOptions,
    SuffixNgramOptions,
)
from recollect.tasks.ar import AR
from recollect.tasks.copy import Copy
from recollect.tasks.duplicate_ngram import DuplicateNgram
from recollect.tasks.mqar import MQAR
from recollect.tasks.prefix_ngram import PrefixNgram
from recollect.tasks.suffix_ngram import SuffixNgram
from recollect.tasks.supply import Supply
from recollect.tasks.task import IGNORED, Batch, Task


def build_task(name: str, **options: Any) -> Task:
    """A task by its name and options."""
    if name not in TASK_OPTIONS:
        raise unknown("task", name, TASK_OPTIONS)
    try:
        return make_task(TASK_OPTIONS[name].model_validate({"name": name, **options}))
    except ValidationError as error:
        raise sentence(error, f"task {name}") from None


def make_task(options: TaskOptions) -> Task:
    """The task that these options describe."""
    match options:
        case MQAROptions():
            return MQAR(options)
        case AROptions():
            return AR(options)
        case CopyOptions():
            return Copy(options)
        case PrefixNgramOptions():
            return PrefixNgram(options)
        case SuffixNgramOptions():
            return SuffixNgram(options)
        case DuplicateNgramOptions():
            return DuplicateNgram(options)
    raise TypeError(f"no task for {type(options).__name__}")


__all__ = ["IGNORED", "Batch", "Supply", "Task", "build_task", "make_task"]
