"""Options of a mixer that a user brings."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from recollect.spec.base import ASIDE
from recollect.spec.mixers.options import Card, MixerOptions


class ForeignOptions(MixerOptions):
    """A class of the user's: `name` is `file.py:Class` or `package.module:Class`; further fields are its arguments.

    `source` pins what was run: the file's sha256, or the package's version. `path` only says where it lies.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    card: ClassVar[Card] = Card(state="unknown")
    name: str = Field(pattern=r"^[^:]+:[A-Za-z_]\w*$")
    path: Annotated[str, ASIDE] = ""
    source: str

    def arguments(self) -> dict[str, Any]:
        """The constructor's own arguments."""
        return dict(self.model_extra or {})

    def by_prefix(self) -> bool:
        """Nobody knows."""
        return False


class WholeOptions(ForeignOptions):
    """A whole model of the user's in the mixers' place: `name` is a function, or a class, that makes it."""

    whole: Literal["model"] = "model"
