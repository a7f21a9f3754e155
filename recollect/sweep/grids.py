"""Many runs from one YAML file.

    name: widths                            # else the file's name
    protocol: laptop                        # else laptop
    task: mqar                              # or {name: mqar, length: [32, 64]}
    mixer:                                  # one or several; options of one of them go with its name
      - attention
      - {name: mamba, d_state: [8, 16]}
      - mine.py:Mixer                       # beside this file
      - attention,mamba                     # a hybrid: one mixer a layer
    like: attention                         # mine.py:Mixer gets the exceptions that the protocol makes for attention
    lr: {log: [1e-4, 1e-1], n: 9}           # evenly spaced, rounded to 1/40 decade
    model: {d_model: [32, 64], n_layers: 2}
    train.steps: 500                        # nested or dotted
    seed: [42, 123]

A list is a grid: every entry is tried with every entry of the other lists, the first field varying slowest, a mixer's
own options fastest. An entry that is itself a list is one value: `model.block: [[mixer, mamba]]`.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.errors import BadInput, unknown
from recollect.spec import RunSpec
from recollect.spec.compose import leaves, make_spec, number, once
from recollect.spec.files import read_mapping
from recollect.spec.like import is_own, roles, told
from recollect.spec.rates import PER_DECADE, on_lattice
from recollect.sweep.labels import RATE, label
from recollect.sweep.named import Sweep

SHORT = {
    "task": "task.name",
    "lr": "train.lr",
    "steps": "train.steps",
    "d_model": "model.d_model",
    "n_layers": "model.n_layers",
}
KEYS = {"name", "protocol", "mixer", "like", "model", "train", "compute", "seed", "numerics", *SHORT}
LIKE = "like:"
MOST = 100_000
"""Runs of a sweep file: one worker would take a month at half a minute each."""

Choices = dict[str, list[Any]]


def from_yaml(file: Path) -> Sweep:
    """The grid of a YAML file."""
    plain = read_mapping(file, "'task: mqar' and 'mixer: attention'")
    for key in plain:
        if "." not in str(key) and key not in KEYS:
            raise unknown(str(file), str(key), KEYS)
    name = str(plain.pop("name", file.stem))
    protocols = [str(protocol) for protocol in leaf("protocol", plain.pop("protocol", "laptop"), file)]
    like = str(plain.pop("like", None) or "")
    tasks, mixers, fields = split(plain, file)
    own = sum(math.prod(len(values) for values in options.values()) for _, options in mixers)
    runs = len(protocols) * len(tasks) * own * math.prod(len(values) for values in fields.values())
    if runs > MOST:
        raise BadInput(f"{file}: {runs:,} runs; at most {MOST:,} in one sweep, split it")
    everyone = [name for names, _ in mixers for name in names]
    with said_of(file):
        roles(everyone, like, str(file), LIKE)
        specs = [
            spec_of(task, names, chosen, protocol, like, str(file))
            for protocol, task, (names, options) in itertools.product(protocols, tasks, mixers)
            for chosen in grid(fields | options)
        ]
        choices = [told(protocol, task, everyone, like, LIKE) for protocol, task in itertools.product(protocols, tasks)]
    named = {*fields, "task.name", *(key for _, options in mixers for key in options)}
    cases = label(specs, named if len(protocols) == 1 else None)
    return Sweep(name, "", cases, choice="\n".join(dict.fromkeys(filter(None, choices))))


def split(plain: dict[str, Any], file: Path) -> tuple[list[str], list[tuple[list[str], Choices]], Choices]:
    """The tasks, the mixers with their own options, and the choices of all other fields."""
    mixer = plain.pop("mixer", None)
    found = ((SHORT.get(key, key), leaf(key, value, file)) for key, value in leaves(plain, is_room))
    fields = once(found, str(file))
    tasks = fields.pop(SHORT["task"], [])
    for what, given in (("task: mqar", tasks), ("mixer: attention", mixer)):
        if not given:
            raise BadInput(f"{file}: no {what.split(':')[0]} is named; add a line such as '{what}'")
    mixers = [mixer_choice(entry, file) for entry in (mixer if isinstance(mixer, list) else [mixer])]
    return [beside(str(task), file) for task in tasks], mixers, fields


def is_room(value: Any) -> bool:
    """Whether fields are nested in it; `{log: ..., n: ...}` is a value."""
    return isinstance(value, Mapping) and "log" not in value


def mixer_choice(entry: Any, file: Path) -> tuple[list[str], Choices]:
    """A mixer, or those of a hybrid, and the choices of its own options."""
    named = entry if isinstance(entry, Mapping) else {"name": entry}
    if "name" not in named:
        raise BadInput(f"{file}: mixer: {dict(named)} has no 'name'")
    options = {f"model.mixer.{key}": leaf(str(key), value, file) for key, value in named.items() if key != "name"}
    return [beside(part, file) for part in str(named["name"]).split(",")], options


def beside(name: str, file: Path) -> str:
    """A file of the user's lies relative to the sweep's."""
    return str(file.parent / name) if ".py:" in name else name


def leaf(key: str, value: Any, file: Path) -> list[Any]:
    """The values of one field, one at least."""
    if value == []:
        raise BadInput(f"{file}: {key}: the list is empty; give one value or several")
    if isinstance(value, list):
        return [one for entry in value for one in ([entry] if isinstance(entry, list) else leaf(key, entry, file))]
    if isinstance(value, Mapping):
        return spaced(key, value, file)
    return [value]


def spaced(key: str, value: Mapping[str, Any], file: Path) -> list[Any]:
    """The values of `{log: [low, high], n: count}`; learning rates fall on the lattice, whole numbers stay whole."""
    try:
        low, high = value["log"]
        n = number(value["n"], "n", key)
        first, last = math.log10(float(low)), math.log10(float(high))
        good = set(value) == {"log", "n"} and first <= last < math.inf and n <= MOST
    except (KeyError, TypeError, ValueError, ArithmeticError):
        good = False
    if not good:
        asked = f"write {{log: [low, high], n: count}} with 0 < low <= high (finite) and 0 < n <= {MOST:,}"
        raise BadInput(f"{file}: {key}: {asked} (got {dict(value)})")
    whole = isinstance(low, int) and isinstance(high, int)
    is_rate = SHORT.get(key, key) == RATE
    places = [first + (last - first) * i / max(1, n - 1) for i in range(n)]
    made = [on_lattice(x) if is_rate else round(10**x) if whole else float(f"{10**x:.4g}") for x in places]
    if len(set(made)) < n:
        finest = f"1/{PER_DECADE} decade" if is_rate else "four digits"
        raise BadInput(f"{file}: {key}: {n} values from {low} to {high} are closer than {finest}; lower n")
    return made


def grid(choices: Choices) -> Iterator[dict[str, Any]]:
    """Every combination, the first field varying slowest."""
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def spec_of(task: str, names: list[str], fields: dict[str, Any], protocol: str, like: str, where: str) -> RunSpec:
    """One spec; only mixers of users are like another."""
    mixer, meant = names if len(names) > 1 else names[0], like if any(map(is_own, names)) else ""
    return make_spec(task, mixer, fields, protocol=protocol, like=meant, where=where)


@contextmanager
def said_of(file: Path) -> Iterator[None]:
    """Whatever is wrong is said of the file."""
    try:
        yield
    except BadInput as error:
        text = str(error)
        raise BadInput(text if text.startswith(str(file)) else f"{file}: {text}") from None
