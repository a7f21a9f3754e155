"""Tasks: each one file with an example drawn in its docstring; `build_task` makes them by name."""

from typing import Any

from pydantic import ValidationError

from recollect.errors import sentence
from recollect.spec import ForeignTaskOptions, TaskOptions, task_options
from recollect.spec.registry import implementation
from recollect.tasks.foreign import ForeignTask
from recollect.tasks.supply import Supply
from recollect.tasks.task import IGNORED, Batch, Places, Task


def build_task(name: str, **options: Any) -> Task:
    """A task by its name and options, or a user's class by `path/to/file.py:Class`."""
    try:
        return make_task(task_options(name, options))
    except ValidationError as error:
        raise sentence(error, f"task {name}") from None


def make_task(options: TaskOptions) -> Task:
    """The task that these options describe."""
    if isinstance(options, ForeignTaskOptions):
        return ForeignTask(options)
    made: Task = implementation("tasks", options, options.name)(options)
    return made


__all__ = ["IGNORED", "Batch", "Places", "Supply", "Task", "build_task", "make_task"]
