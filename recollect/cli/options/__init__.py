"""Options that several commands share."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from cyclopts import Parameter

from recollect.errors import BadInput
from recollect.spec.compose import flatten
from recollect.spec.files import read_mapping

StorePath = Annotated[Path, Parameter(name=["--store"], help="the store's file")]
Sets = Annotated[
    tuple[str, ...],
    Parameter(
        name=["--set"],
        negative=(),
        help="any field of the spec, as task.length=64 or model.mixer.n_heads=2; may be repeated",
    ),
]
Json = Annotated[bool, Parameter(name=["--json"], negative=(), help="print one JSON object and nothing else")]


def read_sets(sets: tuple[str, ...]) -> dict[str, Any]:
    """task.length=64 -> {'task.length': 64}, values read as YAML."""
    out: dict[str, Any] = {}
    for text in sets:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise BadInput(f"--set: write field=value (got '{text}')")
        try:
            out[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise BadInput(f"--set {key}: cannot read the value '{value}'") from None
    return out


def overrides(short: Mapping[str, Any], sets: tuple[str, ...], file: Path | None = None) -> dict[str, Any]:
    """The fields that a user gives: by a file, over it by options (None: not given), over these by --set."""
    given = {key: value for key, value in short.items() if value is not None}
    return (flatten(read_mapping(file, "'train.lr: 1e-3'")) if file is not None else {}) | given | read_sets(sets)


def check_folder(out: Path) -> None:
    """Refuse a place for figures that is a file."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"--out: {out} is not a directory")


def print_figure(files: Sequence[Path]) -> None:
    """Say where a figure is, and in which other formats."""
    print(f"figure: {files[0]} (also {', '.join(file.suffix[1:] for file in files[1:])})")
