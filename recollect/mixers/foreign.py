"""A user's own module in a mixer's place."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from recollect.errors import BadInput, nearest
from recollect.mixers.mixer import Mixer, Place, rows_at
from recollect.spec import ForeignOptions
from recollect.spec.sources import load_source


class Foreign(Mixer):
    """Any nn.Module (B, L, D) -> (B, L, D): computes all rows and hands over those that are asked."""

    def __init__(self, options: ForeignOptions, place: Place) -> None:
        super().__init__()
        self.name = options.name
        self.inner = make(load_class(options), options, place)
        self.named, self.cut = told_dynamics(self.inner, options.name), told_fused(self.inner, options.name)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        y = self.inner(x)
        if not isinstance(y, Tensor) or y.shape != x.shape:
            given = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise BadInput(f"mixer {self.name}: forward must return a tensor {tuple(x.shape)} (got {given})")
        return rows_at(y, at)

    def sets_dynamics(self, name: str) -> bool:
        """Those that the class itself names in `dynamics`."""
        return any(name == f"inner.{own}" or name.startswith(f"inner.{own}.") for own in self.named)

    def fused(self) -> dict[str, list[int]]:
        """Those that the class itself names in `fused`."""
        return {f"inner.{own}": rows for own, rows in self.cut.items()}

    def state_size(self, length: int) -> int | None:
        """Whatever the class itself says; unknown where it says nothing."""
        return told_state(self.inner, length, f"mixer {self.name}")


def told_dynamics(module: nn.Module, where: str) -> tuple[str, ...]:
    """The parameters and modules that a user's `dynamics` names; what is no list of names has another meaning there."""
    names = getattr(module, "dynamics", ())
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return (names,) if isinstance(names, str) else ()
    there = [name for name, _ in (*module.named_parameters(), *module.named_modules())]
    for name in names:
        if name not in there:
            raise BadInput(f"mixer {where}: dynamics names no parameter or module '{name}'{nearest(name, there[:-1])}")
    return tuple(names)


def told_fused(module: nn.Module, where: str) -> dict[str, list[int]]:
    """Parameter -> the rows of each matrix in it, as a user's mapping `fused` says; a method of that name is none."""
    told, there = getattr(module, "fused", None), dict(module.named_parameters())
    if not isinstance(told, Mapping):
        return {}
    for name, rows in told.items():
        if name not in there:
            raise BadInput(f"mixer {where}: fused names no parameter '{name}'{nearest(str(name), list(there))}")
        if sum(rows) != len(there[name]):
            raise BadInput(f"mixer {where}: fused['{name}'] must add up to its {len(there[name])} rows (got {rows})")
    return {name: list(rows) for name, rows in told.items()}


def told_state(module: nn.Module, length: int, where: str) -> int | None:
    """What a user's `state_size(length)` says; None where there is none."""
    state = getattr(module, "state_size", None)
    if not callable(state):
        return None
    try:
        return int(state(length))
    except (Exception, SystemExit) as error:
        raise BadInput(f"{where}: state_size({length}) raised {type(error).__name__}: {error}") from error


def load_class(options: ForeignOptions) -> type[nn.Module]:
    """The class itself, from exactly the source that the spec pins."""
    cls = options.name.rpartition(":")[2]
    module = load_source(options, "mixer")
    found = getattr(module, cls, None)
    classes = [n for n, c in vars(module).items() if isinstance(c, type) and issubclass(c, nn.Module)]
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        functions = [n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__]
        hint = nearest(cls, [*classes, *functions]) if classes or functions else "; it defines none"
        raise BadInput(f"mixer {options.name}: no nn.Module class '{cls}' in it{hint}")
    return found


def load_object(options: ForeignOptions, what: str) -> Callable[..., Any]:
    """A function or class by its name, from exactly the source that the spec pins."""
    module, name = load_source(options, what), options.name.rpartition(":")[2]
    found = getattr(module, name, None)
    if not callable(found):
        others = [n for n, thing in vars(module).items() if callable(thing) and not n.startswith("_")]
        raise BadInput(f"{what} {options.name}: no function or class '{name}' in it{nearest(name, others)}")
    made: Callable[..., Any] = found
    return made


def make(cls: type[nn.Module], options: ForeignOptions, place: Place) -> nn.Module:
    """Call the class with d_model and with what else its signature asks for."""
    offered = {"length": place.length, "layer": place.layer, "n_layers": place.n_layers}
    made: nn.Module = call(cls, f"mixer {options.name}", offered, {"d_model": place.d_model, **options.arguments()})
    return made


def call(make: Callable[..., Any], where: str, offered: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """What a user's class or function makes of what is given, and of what is offered and its signature asks for."""
    parameters = inspect.signature(make).parameters
    arguments = {name: value for name, value in offered.items() if name in parameters} | dict(given)
    try:
        return make(**arguments)
    except (Exception, SystemExit) as error:
        told = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        text = f"{type(error).__name__}: {error}"
        raise BadInput(f"{where}: {make.__name__}({told}) raised {text}") from error
