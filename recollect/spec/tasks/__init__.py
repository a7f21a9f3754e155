"""The options of every task, one file a family; a class with its own name is a task, registered by being there."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from recollect.spec.registry import Registry, named, one_of
from recollect.spec.tasks import recall, strings
from recollect.spec.tasks.options import TaskOptions

TASKS: Registry[str, type[TaskOptions]] = Registry("task", named(TaskOptions, recall, strings))  # type: ignore[type-abstract]
if TYPE_CHECKING:
    TaskSpec = TaskOptions
else:
    TaskSpec = Annotated[one_of(TASKS.items()), Field(discriminator="name")]

__all__ = ["TASKS", "TaskOptions", "TaskSpec"]
