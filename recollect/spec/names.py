"""From a name on the command line to checked options, without importing any mixer."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from recollect.errors import BadInput, sentence, unknown
from recollect.spec.files import classes, pin
from recollect.spec.mixers import MIXERS, ForeignOptions, MixerOptions


def mixer_options(name: str, options: dict[str, Any]) -> MixerOptions:
    """The checked options of a mixer that is known by name, by `file.py:Class` or by `package.module:Class`."""
    if ":" in name:
        return foreign_options(name, options)
    if name.endswith(".py"):
        raise no_class(name, "mixer")
    kind = MIXERS.find(name)
    for option in options:
        if option not in kind.model_fields:
            raise unknown(f"mixer {name}", option, set(kind.model_fields) - {"name"})
    try:
        return kind.model_validate({"name": name, **options})
    except ValidationError as error:
        raise sentence(error, f"mixer {name}") from None


def no_class(name: str, what: str) -> BadInput:
    """The sentence for a file that is named without the class in it."""
    found = [f"`:{cls}`" for cls in classes(Path(name))]
    which = f"add {' or '.join(found)}" if found else f"write {name}:Class"
    return BadInput(f"{what}: '{name}' names a file and no class in it; {which}")


def foreign_options(name: str, options: dict[str, Any]) -> ForeignOptions:
    """Options of a user's class, with its source pinned."""
    place, _, cls = name.rpartition(":")
    if not cls.isidentifier():
        raise BadInput(f"mixer: '{name}' names no class; write path/to/file.py:Class")
    if not place.endswith(".py"):
        return ForeignOptions(name=name, source=f"version {package_version(place)}", **options)
    file = Path(place)
    if not file.is_file():
        raise BadInput(f"mixer: no file '{place}' (looked in {Path.cwd()})")
    return ForeignOptions(name=f"{file.name}:{cls}", path=str(file.resolve()), source=pin(file), **options)


def package_version(module: str) -> str:
    """The version of the distribution that a module belongs to."""
    package = module.split(".")[0]
    try:
        return version(package)
    except PackageNotFoundError:
        raise BadInput(f"mixer: no installed package '{package}', and '{module}' is no .py file") from None
