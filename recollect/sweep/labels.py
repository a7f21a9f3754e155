"""What runs are called: by their mixers, and by the fields in which they differ."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from recollect.spec import RunSpec
from recollect.spec.compose import flatten
from recollect.studies import Case

RATE = "train.lr"


def label(specs: Sequence[RunSpec], among: Collection[str] | None = None) -> list[Case]:
    """Each spec under its mixer's name and those fields (all, or `among` some) in which its cells differ."""
    unique = list({spec.id: spec for spec in specs}.values())
    flat = [flatten(_layers(spec.identity())) for spec in unique]
    names = [spec.model.mixer_name for spec in unique]
    keys, seen = dict[str, set[str]](), dict[tuple[str, str], set[str]]()
    for name, fields in zip(names, flat, strict=True):
        keys.setdefault(name, set()).update(fields)
    for name, fields in zip(names, flat, strict=True):
        for key in keys[name]:
            if (among is None or key in among) and key not in (RATE, "seed"):
                seen.setdefault((name, key), set()).add(repr(fields.get(key)))  # absent: a later field's default
    return [
        Case(", ".join([name, *_differences(name, fields, seen)]), spec)
        for name, fields, spec in zip(names, flat, unique, strict=True)
    ]


def _layers(plain: dict[str, Any]) -> dict[str, Any]:
    """A hybrid's mixers by their layer."""
    mixers = plain["model"]["mixer"]
    if isinstance(mixers, list):
        plain["model"]["mixer"] = {str(layer): mixer for layer, mixer in enumerate(mixers)}
    return plain


def _differences(name: str, fields: Mapping[str, Any], seen: Mapping[tuple[str, str], set[str]]) -> Iterator[str]:
    for key, value in fields.items():
        if len(seen.get((name, key), ())) > 1:
            yield f"{key.removesuffix('.name').rpartition('.')[2]} {value}"
