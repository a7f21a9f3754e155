"""A user's own module in a mixer's place."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType

from torch import Tensor, nn

from recollect.errors import BadInput, nearest
from recollect.mixers.mixer import Mixer, Place, rows_at
from recollect.spec import ForeignOptions
from recollect.spec.files import load_module, pin


class Foreign(Mixer):
    """Any nn.Module (B, L, D) -> (B, L, D): computes all rows and hands over those that are asked."""

    def __init__(self, options: ForeignOptions, place: Place) -> None:
        super().__init__()
        self.name = options.name
        self.inner = make(load_class(options), options, place)

    def forward(self, x: Tensor, at: Tensor | None = None) -> Tensor:
        y = self.inner(x)
        if not isinstance(y, Tensor) or y.shape != x.shape:
            given = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise BadInput(f"mixer {self.name}: forward must return a tensor {tuple(x.shape)} (got {given})")
        return rows_at(y, at)

    def sets_dynamics(self, name: str) -> bool:
        """Those that the class itself names in `dynamics`."""
        names = getattr(self.inner, "dynamics", ())
        return any(name == f"inner.{own}" or name.startswith(f"inner.{own}.") for own in names)

    def state_size(self, length: int) -> int | None:
        """Whatever the class itself says; unknown where it says nothing."""
        state = getattr(self.inner, "state_size", None)
        return int(state(length)) if callable(state) else None


def load_class(options: ForeignOptions) -> type[nn.Module]:
    """The class itself, from exactly the source that the spec pins."""
    module_name, _, cls = options.name.rpartition(":")
    try:
        module = _load_file(options) if options.path else importlib.import_module(module_name)
    except BadInput:
        raise
    except Exception as error:
        raise BadInput(f"mixer {options.name}: importing it raised {type(error).__name__}: {error}") from error
    found = getattr(module, cls, None)
    classes = [n for n, c in vars(module).items() if isinstance(c, type) and issubclass(c, nn.Module)]
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        hint = nearest(cls, classes) if classes else "; it defines none"
        raise BadInput(f"mixer {options.name}: no nn.Module class '{cls}' in it{hint}")
    return found


def _load_file(options: ForeignOptions) -> ModuleType:
    file = Path(options.path)
    if not file.is_file():
        raise BadInput(f"mixer {options.name}: no file '{options.path}'")
    if pin(file) != options.source:
        raise BadInput(f"mixer {options.name}: {file} has changed since this spec was made; make the spec anew")
    return load_module(file, f"recollect_foreign_{options.source[7:23]}", f"mixer {options.name}")


def make(cls: type[nn.Module], options: ForeignOptions, place: Place) -> nn.Module:
    """Call the class with d_model and with what else its signature asks for."""
    offered = {"length": place.length, "layer": place.layer, "n_layers": place.n_layers}
    parameters = inspect.signature(cls).parameters
    given = {name: value for name, value in offered.items() if name in parameters} | options.arguments()
    try:
        return cls(d_model=place.d_model, **given)
    except Exception as error:
        call = ", ".join(f"{k}={v!r}" for k, v in {"d_model": place.d_model, **given}.items())
        text = f"{type(error).__name__}: {error}"
        raise BadInput(f"mixer {options.name}: {cls.__name__}({call}) raised {text}") from error
