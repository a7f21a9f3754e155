"""What a user wants otherwise than a study says."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from recollect.errors import unknown
from recollect.spec.protocols import Fields
from recollect.studies.parts import Scale, Variant


@dataclass(frozen=True)
class Changes:
    """Fields, models, widths, rates and seeds; their words name the runs."""

    fields: Fields = field(default_factory=dict)
    mixers: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()
    lrs: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    like: str = ""

    def __bool__(self) -> bool:
        return self != Changes()

    def __str__(self) -> str:
        """In words; they name the runs, so that those of other changes stand apart."""
        lists = {"widths": self.widths, "lrs": self.lrs, "seeds": self.seeds}
        words = [
            *self.mixers,
            *([f"like {self.like}"] if self.like else []),
            *(f"{name}={value}" for name, value in self._fields().items()),
        ]
        words += [f"{name} {' '.join(map(str, found))}" for name, found in lists.items() if found]
        return "; ".join(words)

    def _fields(self) -> dict[str, str]:
        """By name, values as YAML has them."""
        fields = sorted(self.fields.items())
        return {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields}

    def apply(self, scale: Scale) -> Scale:
        """The scale with these widths, rates and seeds; every width with every depth that the scale has.

        A search looks between the outermost of the rates.
        """
        depths = dict.fromkeys(depth for _, depth in scale.shapes)
        shapes = tuple(itertools.product(self.widths, depths)) or scale.shapes
        span = (min(self.lrs), max(self.lrs)) if self.lrs else scale.span
        return replace(scale, shapes=shapes, lrs=self.lrs or scale.lrs, seeds=self.seeds or scale.seeds, span=span)

    def names(self) -> list[str]:
        """Every mixer or label that is named: mixers may be joined by commas, a label's comma has a space after it."""
        parted = ([name] if ", " in name else name.split(",") for name in self.mixers)
        return [name.removeprefix("+") for name in itertools.chain(*parted)]

    def choose(self, models: Mapping[str, Variant]) -> dict[str, Variant]:
        """The models that are named, by label or mixer; a user's `file.py:Class` joins them.

        `+file.py:Class` joins all models of the study.
        """
        added = any(name.startswith("+") for name in self.mixers)
        chosen = dict(models) if added or not self.mixers else {}
        for name in self.names():
            found = {label: model for label, model in models.items() if name in (label, model.mixer)}
            if not found and ":" not in name:
                raise unknown("--mixers", name, {*models, *(model.mixer for model in models.values())})
            chosen |= found or {name: Variant(name)}
        return chosen
