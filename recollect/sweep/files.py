"""Sweep files: many runs from one YAML file, or from a Python file with a function that returns them.

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

import inspect
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from recollect.errors import BadInput, unknown
from recollect.spec import RunSpec
from recollect.spec.compose import flatten, make_spec
from recollect.spec.files import load_module, pin, read_mapping
from recollect.spec.like import is_own, roles, told
from recollect.spec.rates import PER_DECADE, on_lattice
from recollect.studies import Case, Design, runs_of
from recollect.window import ComparedCell, TunedCell, at_length
from recollect.window.cell import Cell
from recollect.window.reading import grouped
from recollect.window.tuned import LONG
from recollect.window.tuned import MOST as MOST_OF_CELL

SHORT = {"lr": "train.lr", "steps": "train.steps", "d_model": "model.d_model", "n_layers": "model.n_layers"}
KEYS = {"name", "protocol", "task", "mixer", "like", "model", "train", "compute", "seed", "numerics", *SHORT}
RATE, LIKE = "train.lr", "like:"
MOST = 100_000
"""Runs of a sweep file: one worker would take a month at half a minute each."""

Choices = dict[str, list[Any]]


@dataclass(frozen=True)
class Sweep:
    """A named list of runs; `scale` is empty where the file knows none.

    Where their learning rates are searched instead, it is for the cells and seeds of the runs, in the `span` (if none
    is given, between their outermost learning rates). `choice` says what was chosen for mixers of users.
    """

    name: str
    scale: str
    cases: list[Case]
    span: tuple[float, float] | None = None
    choice: str = ""

    def runs(self, design: Design) -> tuple[int, int]:
        """How many runs a design takes, usually and at most."""
        cells = grouped((case.spec.cell, case.spec) for case in self.cases).values()
        axes = [({spec.train.lr for spec in specs}, {spec.seed for spec in specs}) for specs in cells]
        most = LONG if any(case.against for case in self.cases) else MOST_OF_CELL
        low, high = zip(*(runs_of(design, lrs, len(seeds), most) for lrs, seeds in axes), strict=True)
        return sum(low), sum(high)

    def tuned(self, cases: Sequence[Case], most: int | None) -> list[tuple[str, Cell]]:
        """The cells of some of its runs under their labels, each to be searched with at most so many runs.

        Cells that are compared, and those that they are compared with, have numbers of their own, if none is given.
        """
        lrs = [case.spec.train.lr for case in self.cases]
        seeds, span = tuple(dict.fromkeys(case.spec.seed for case in self.cases)), self.span or (min(lrs), max(lrs))
        cells = {case.spec.cell: case for case in reversed(cases)}
        others = {case.against.cell for case in cells.values() if case.against is not None} & cells.keys()

        def planner(case: Case) -> Cell:
            if most is not None or not others & {case.spec.cell, case.against.cell if case.against else ""}:
                return TunedCell.of(case.spec, seeds, span, most or MOST_OF_CELL)
            if case.against is None:
                return at_length(case.spec, seeds, span)
            return ComparedCell.of(case.spec, case.against, seeds, span)

        return [(case.label, planner(case)) for case in reversed(cells.values())]


def read_sweep(file: Path, scale: str | None = None) -> Sweep:
    """The runs of a file, by its ending."""
    if not file.is_file():
        raise BadInput(f"{file}: no such file")
    if file.suffix == ".py":
        return from_python(file, scale)
    if scale is not None:
        raise BadInput(f"{file}: --scale is for studies and Python files; a YAML file has one size")
    return from_yaml(file)


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
    fields = {SHORT.get(key, key): leaf(key, value, file) for key, value in leaves(plain)}
    tasks = fields.pop("task", []) + fields.pop("task.name", [])
    for what, given in (("task: mqar", tasks), ("mixer: attention", mixer)):
        if not given:
            raise BadInput(f"{file}: no {what.split(':')[0]} is named; add a line such as '{what}'")
    mixers = [mixer_choice(entry, file) for entry in (mixer if isinstance(mixer, list) else [mixer])]
    return [beside(str(task), file) for task in tasks], mixers, fields


def leaves(plain: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted fields; `{log: ..., n: ...}` is a value."""
    for key, value in plain.items():
        if isinstance(value, Mapping) and "log" not in value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


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
    """The values of one field."""
    if isinstance(value, list):
        return [one for entry in value for one in ([entry] if isinstance(entry, list) else leaf(key, entry, file))]
    if isinstance(value, Mapping):
        return spaced(key, value, file)
    return [value]


def spaced(key: str, value: Mapping[str, Any], file: Path) -> list[Any]:
    """The values of `{log: [low, high], n: count}`; learning rates fall on the lattice, whole numbers stay whole."""
    try:
        low, high = value["log"]
        n = int(value["n"])
        first, last = math.log10(float(low)), math.log10(float(high))
        good = set(value) == {"log", "n"} and first <= last and n > 0
    except (KeyError, TypeError, ValueError, ArithmeticError):
        good = False
    if not good:
        raise BadInput(f"{file}: {key}: write {{log: [low, high], n: count}} with 0 < low <= high (got {dict(value)})")
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


def from_python(file: Path, scale: str | None) -> Sweep:
    """What the file's `specs()` or `cases()` returns; the function may take the scale."""
    function = entry_point(load_module(file, f"recollect_sweep_{pin(file)}", str(file)), file)
    takes_scale = bool(inspect.signature(function).parameters)
    if scale is not None and not takes_scale:
        raise BadInput(f"{file}: --scale {scale}: {function.__name__}() takes no scale")
    chosen = (scale or "laptop") if takes_scale else ""
    try:
        made = list(function(chosen) if takes_scale else function())
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None
    except Exception as error:
        raise BadInput(f"{file}: {function.__name__}() raised {type(error).__name__}: {error}") from error
    return Sweep(file.stem, chosen, labelled(made, f"{file}: {function.__name__}()"))


def entry_point(module: ModuleType, file: Path) -> Callable[..., Sequence[Any]]:
    """The function that returns the runs."""
    for name in ("specs", "cases"):
        if callable(found := vars(module).get(name)):
            function: Callable[..., Sequence[Any]] = found
            return function
    raise BadInput(f"{file}: no function specs() or cases() in it; write one that returns a list of RunSpecs")


def labelled(made: Sequence[Any], where: str) -> list[Case]:
    """Cases as they are, specs with a label."""
    if made and all(isinstance(item, Case) for item in made):
        return list(made)
    for i, item in enumerate(made):
        if not isinstance(item, RunSpec):
            raise BadInput(f"{where} must return RunSpecs (item {i} is of type {type(item).__name__})")
    if not made:
        raise BadInput(f"{where} returned no runs")
    return label(made)


def label(specs: Sequence[RunSpec], among: Collection[str] | None = None) -> list[Case]:
    """Each spec under its mixer's name and those fields (all, or `among` some) in which its cells differ."""
    unique = list({spec.id: spec for spec in specs}.values())
    flat = [flatten(_layers(spec.identity())) for spec in unique]
    names = [spec.model.mixer_name for spec in unique]
    seen: dict[tuple[str, str], set[str]] = {}
    for name, fields in zip(names, flat, strict=True):
        for key in {key for other, found in zip(names, flat, strict=True) if other == name for key in found}:
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
