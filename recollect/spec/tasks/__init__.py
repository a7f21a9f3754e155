"""The options of every task, one file a family; a class with its own name is a task, registered by being there."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator

from recollect.spec.registry import Registry, named, one_of
from recollect.spec.tasks import recall, strings
from recollect.spec.tasks.foreign import ForeignTaskOptions
from recollect.spec.tasks.options import TaskOptions


def _tag(value: Any) -> str:
    name = value.get("name", "") if isinstance(value, dict) else getattr(value, "name", "")
    return "foreign" if ":" in str(name) else str(name)


TASKS: Registry[str, type[TaskOptions]] = Registry("task", named(TaskOptions, recall, strings))  # type: ignore[type-abstract]
if TYPE_CHECKING:
    TaskSpec = TaskOptions
else:
    TaskSpec = Annotated[one_of([*TASKS.items(), ("foreign", ForeignTaskOptions)]), Discriminator(_tag)]

__all__ = ["TASKS", "ForeignTaskOptions", "TaskOptions", "TaskSpec"]
