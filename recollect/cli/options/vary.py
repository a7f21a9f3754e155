"""`--vary field=value,value`: one search a value, the one that the others are compared with first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.files import Plain

Fields = dict[str, Any]


@dataclass(frozen=True)
class Vary:
    """A field and its values; none where nothing is varied."""

    name: str = ""
    values: tuple[Any, ...] = ()

    def specs(self, given: Fields, make: Callable[[Fields], RunSpec]) -> list[RunSpec]:
        """One model with every value, each cell once; with the value that it has anyway, else with the first one, it
        comes first: that is what the others are compared with."""
        if not self.values:
            return [make(given)]
        if self.name in given:
            raise BadInput(f"--vary {self.name}: it is given a value already, {given[self.name]}; leave one out")
        made = [make(given | {self.name: value}) for value in self.values]
        found = {spec.cell: spec for spec in made}
        if 1 < len(found) < len(made):
            raise BadInput(f"--vary {self.name}: two of the values mean the same; give every value once")
        plain = self._plain(given, make)
        return sorted(found.values(), key=lambda spec: spec.cell != plain)

    @staticmethod
    def _plain(given: Fields, make: Callable[[Fields], RunSpec]) -> str:
        """The cell with the value that the model has anyway; none where that one cannot be."""
        try:
            return make(given).cell
        except BadInput:
            return ""


def read_vary(text: str) -> Vary:
    """train.lr_dynamics=0.1,0.03,1 -> the field and its values, read as a YAML list."""
    if not text:
        return Vary()
    name, equals, values = text.partition("=")
    if not equals or not name or not values.strip():
        raise BadInput(f"--vary: write field=value,value (got '{text}')")
    try:
        found = yaml.load(f"[{values}]", Plain)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadInput(f"--vary {name}: cannot read the values '{values}'") from None
    if len(found) < 2:
        raise BadInput(f"--vary {name}: give two values or more; --set gives one")
    for i, value in enumerate(found):
        if value in found[:i]:
            raise BadInput(f"--vary {name}: give every value once (got {value} twice)")
    return Vary(name.strip(), tuple(found))
