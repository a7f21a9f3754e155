"""One shape for everything that has members: mixers, tasks, protocols, executors, studies, claims, figure kinds."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Annotated, Any, TypeVar, Union

from pydantic import Tag

from recollect.errors import unknown
from recollect.spec.base import Frozen, Kind

K = TypeVar("K", bound=str | int)
T = TypeVar("T")


class Registry(Mapping[K, T]):
    """Members by name, in the order in which they are given; each is stated once, in one place."""

    def __init__(self, what: str, members: Iterable[tuple[K, T]]) -> None:
        self.what = what
        self._members: dict[K, T] = {}
        for name, member in members:
            if name in self._members:
                raise ValueError(f"{what} '{name}' is registered twice")
            self._members[name] = member

    def __getitem__(self, name: K) -> T:
        return self._members[name]

    def __iter__(self) -> Iterator[K]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def find(self, name: K, where: str = "") -> T:
        """A member by its name; one sentence with the nearest name where there is none."""
        if name not in self._members:
            raise unknown(where or self.what, str(name), map(str, self._members))
        return self._members[name]


def named(base: type[Kind], *families: ModuleType) -> Iterator[tuple[str, type[Kind]]]:
    """The option classes of these files that have a name of their own, in the order in which they are written."""
    for kind in (kind for family in families for kind in vars(family).values()):
        if isinstance(kind, type) and issubclass(kind, base) and "name" in kind.model_fields:
            name = kind.model_fields["name"].default
            yield from [(name, kind)] if isinstance(name, str) else []


def one_of(members: Iterable[tuple[str, type[Frozen]]]) -> Any:
    """The type of a field that holds any of the members."""
    return Union[tuple(Annotated[kind, Tag(name)] for name, kind in members)]  # noqa: UP007


def implementation(room: str, options: Frozen, name: str) -> Any:
    """The class that does what options describe: `MambaOptions` named mamba -> `Mamba` in `recollect.<room>.mamba`."""
    return getattr(import_module(f"recollect.{room}.{name}"), type(options).__name__.removesuffix("Options"))
