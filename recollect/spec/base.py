"""What every description shares: frozen, complete, canonical; and which of its fields say what a run is.

A field may carry a mark in its declaration, `field: Annotated[type, MARK] = ...`:

    LATER       added after runs had been stored: no part of the identity while it has its default, so that ids stay
    ASIDE       never part of the identity: it says where a thing lies, not what it is
    As(f)       stands in the identity as f(value)
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

LATER, ASIDE = "later", "aside"


@dataclass(frozen=True)
class As:
    """A mark: the identity has this function of the value."""

    of: Callable[[Any], Any]


class Frozen(BaseModel):
    """A description that cannot change and has no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    def identity(self) -> dict[str, Any]:
        """The plain value that is hashed: all fields, as their marks say."""
        plain = self.model_dump(mode="json")
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if ASIDE in field.metadata or (is_later(field) and value == field.default):
                del plain[name]
            elif isinstance(value, Frozen):
                plain[name] = value.identity()
            elif isinstance(value, tuple):
                parts = zip(value, plain[name], strict=True)
                plain[name] = [one.identity() if isinstance(one, Frozen) else same for one, same in parts]
            else:
                for mark in (mark for mark in field.metadata if isinstance(mark, As)):
                    plain[name] = mark.of(value)
        return plain


def is_later(field: FieldInfo) -> bool:
    """Whether a field was added after runs had been stored: a protocol need not list it."""
    return LATER in field.metadata


def canonical(value: Any) -> str:
    """The one JSON text of a plain value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """The name of a plain value: the beginning of a hash of its JSON text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]
