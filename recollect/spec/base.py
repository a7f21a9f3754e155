"""What every description shares: frozen, complete, canonical; and which of its fields say what a run is.

A field may carry a mark in its declaration, `field: Annotated[type, MARK] = ...`:

    LATER       added after runs had been stored: no part of the identity while it has its default, so that ids stay
    ASIDE       never part of the identity: it says where a thing lies, not what it is
    As(f)       stands in the identity as f(value)
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python
from typing_extensions import Self

from recollect.errors import sentence

LATER, ASIDE = object(), object()


@dataclass(frozen=True)
class As:
    """A mark: the identity has this function of the value."""

    of: Callable[[Any], Any]


class Frozen(BaseModel):
    """A description that cannot change, has no unknown field and no number that JSON, and so its id, cannot hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def truth_is_no_number(cls, given: Any) -> Any:
        """Refuse true and false where they are not asked for: they would count as 1 and 0."""
        for name, field in cls.model_fields.items() if isinstance(given, Mapping) else ():
            if isinstance(given.get(name), bool) and field.annotation is not bool:
                raise ValueError(f"{name} cannot be {str(given[name]).lower()}")
        return given

    @model_validator(mode="after")
    def hashable_arguments(self) -> Self:
        """Refuse what the identity could not hold where fields are open: the arguments of a user's code."""
        for name, value in (self.model_extra or {}).items():
            try:
                canonical(to_jsonable_python(value))
            except (TypeError, ValueError):
                raise ValueError(f"{name}: finite numbers, texts, lists and mappings only (got {value!r})") from None
        return self

    def identity(self) -> dict[str, Any]:
        """The plain value that is hashed: all fields, as their marks say."""
        return identified(self, self.model_dump(mode="json"))


Kind = TypeVar("Kind", bound=Frozen)


def checked(kind: type[Kind], plain: Any, where: str) -> Kind:
    """A description of this kind from plain data, or one sentence."""
    try:
        return kind.model_validate(plain)
    except ValidationError as error:
        raise sentence(error, where) from None


def identified(value: Frozen, plain: dict[str, Any]) -> dict[str, Any]:
    """The plain form of a value without what its marks leave out, in place."""
    for name, part in vars(value).items():
        if isinstance(part, Frozen):
            identified(part, plain[name])
        elif isinstance(part, tuple) and part and isinstance(part[0], Frozen):
            for one, its in zip(part, plain[name], strict=True):
                identified(one, its)
    for name, mark, default in marked(type(value)):
        part = getattr(value, name)
        if isinstance(mark, As):
            plain[name] = mark.of(part)
        elif mark is ASIDE or part == default:
            del plain[name]
    return plain


@cache
def marked(kind: type[Frozen]) -> list[tuple[str, Any, Any]]:
    """The fields of a description that carry a mark: name, mark, default."""
    fields = kind.model_fields.items()
    marks = [(name, mark, field.default) for name, field in fields for mark in field.metadata]
    return [(name, mark, default) for name, mark, default in marks if mark in (LATER, ASIDE) or isinstance(mark, As)]


def is_later(field: FieldInfo) -> bool:
    """Whether a field was added after runs had been stored: a protocol need not list it."""
    return LATER in field.metadata


def canonical(value: Any) -> str:
    """The one JSON text of a plain value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: Any) -> str:
    """The name of a plain value: the beginning of a hash of its JSON text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:12]
