"""Many runs from a function in a Python file."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.files import load_module, pin
from recollect.studies import Case
from recollect.sweep.labels import label
from recollect.sweep.named import Sweep


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
    except (Exception, SystemExit) as error:
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
