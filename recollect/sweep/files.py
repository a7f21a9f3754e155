"""Sweep files: many runs from one YAML file, or from a Python file with a function that returns them."""

from pathlib import Path

from recollect.errors import BadInput
from recollect.studies import STUDIES
from recollect.sweep.functions import from_python
from recollect.sweep.grids import from_yaml
from recollect.sweep.named import Sweep


def read_sweep(file: Path, scale: str | None = None) -> Sweep:
    """The runs of a file, by its ending."""
    if not file.is_file():
        raise BadInput(f"{file}: no such file")
    if scale is not None and file.suffix != ".py":
        raise BadInput(f"{file}: --scale is for studies and Python files; a YAML file has one size")
    found = from_python(file, scale) if file.suffix == ".py" else from_yaml(file)
    if found.name in STUDIES:
        another = "rename it" if file.suffix == ".py" else "give it another, by `name:`"
        raise BadInput(f"{file}: its name '{found.name}' is a study's, whose runs it would replace; {another}")
    return found
