"""Sweep files: many runs from one YAML file, or from a Python file with a function that returns them."""

from pathlib import Path

from recollect.errors import BadInput
from recollect.sweep.functions import from_python
from recollect.sweep.grids import from_yaml
from recollect.sweep.named import Sweep


def read_sweep(file: Path, scale: str | None = None) -> Sweep:
    """The runs of a file, by its ending."""
    if not file.is_file():
        raise BadInput(f"{file}: no such file")
    if file.suffix == ".py":
        return from_python(file, scale)
    if scale is not None:
        raise BadInput(f"{file}: --scale is for studies and Python files; a YAML file has one size")
    return from_yaml(file)
