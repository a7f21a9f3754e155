"""Options of a task that a user brings."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, PositiveInt

from recollect.spec.base import ASIDE
from recollect.spec.tasks.options import TaskOptions


class ForeignTaskOptions(TaskOptions):
    """A class of the user's: `name` is `file.py:Class` or `package.module:Class`; further fields are its arguments.

    `source` pins what was run, `path` only says where it lies. Vocabulary and length are what the class said of itself
    with these arguments, kept so that a record can be read without its code; if they are arguments of its own, they are
    both.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    name: str = Field(pattern=r"^[^:]+:[A-Za-z_]\w*$")
    path: Annotated[str, ASIDE] = ""
    source: str
    vocab_size: PositiveInt = Field(le=2**24, description="V, tokens in all")
    length: PositiveInt = Field(le=2**20, description="L, tokens in a row")
    given: tuple[str, ...] = Field((), description="which of its sizes are also its arguments")

    def arguments(self) -> dict[str, Any]:
        """The constructor's own arguments."""
        return dict(self.model_extra or {}) | {name: getattr(self, name) for name in self.given}

    def short(self) -> str:
        """my_task.py:Parity V=4 L=32."""
        return f"{self.name} V={self.vocab_size} L={self.length}"
