"""One shape for everything that has members: mixers, tasks, protocols, executors, studies, claims, figure kinds."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from recollect.errors import unknown

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
