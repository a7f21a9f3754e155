"""Code that users bring: found by `file.py:Name` or `package.module:Name`, pinned by a hash or a version."""

import ast
import importlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple, Protocol

from recollect.errors import BadInput
from recollect.spec.files import load_module, pin


class Pinned(Protocol):
    """What of a spec is a user's code."""

    @property
    def name(self) -> str:
        """`file.py:Name`."""

    @property
    def path(self) -> str:
        """Where the file lies; empty for an installed package."""

    @property
    def source(self) -> str:
        """What was run: the file's sha256, or the package's version."""


def is_code(name: str) -> bool:
    """Whether a name is for a user's code and not for ours."""
    return ":" in name or name.endswith(".py")


class Code(NamedTuple):
    """Code that is there."""

    name: str
    source: str
    path: str = ""


def pinned(name: str, what: str) -> Code:
    """The code of a name, or one sentence."""
    place, _, own = name.rpartition(":")
    if name.endswith(".py"):
        found = [f"`:{one}`" for one in defined(Path(name))]
        which = f"add {' or '.join(found)}" if found else f"write {name}:Class"
        raise BadInput(f"{what}: '{name}' names a file and no class in it; {which}")
    if not place or not own.isidentifier():
        raise BadInput(f"{what}: '{name}' names no class; write path/to/file.py:Class")
    if not place.endswith(".py"):
        return Code(name, f"version {package_version(place, what)}")
    file = Path(place)
    if not file.is_file():
        raise BadInput(f"{what}: no file '{place}' (looked in {Path.cwd()})")
    return Code(f"{file.name}:{own}", pin(file), str(file.resolve()))


def package_version(module: str, what: str) -> str:
    """The version of the distribution that a module belongs to."""
    package = module.split(".")[0]
    try:
        return version(package)
    except PackageNotFoundError:
        raise BadInput(f"{what}: no installed package '{package}', and '{module}' is no .py file") from None


def defined(file: Path) -> dict[str, Literal["class", "function"]]:
    """The classes and functions of a Python file, read and not run; empty where it cannot be read."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    classes = {node.name: "class" for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name: "function" for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: dict[str, Literal["class", "function"]] = {**classes, **functions}  # type: ignore[dict-item]
    return {name: kind for name, kind in found.items() if not name.startswith("_")}


def is_function(name: str) -> bool:
    """Whether `file.py:name` is a function."""
    place, _, own = name.rpartition(":")
    return place.endswith(".py") and defined(Path(place)).get(own) == "function"


def load_source(code: Pinned, what: str) -> ModuleType:
    """The module, exactly as the spec pins it."""
    try:
        return _load_file(code, what) if code.path else importlib.import_module(code.name.rpartition(":")[0])
    except BadInput:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{what} {code.name}: importing it raised {type(error).__name__}: {error}") from error


def _load_file(code: Pinned, what: str) -> ModuleType:
    file = Path(code.path)
    if not file.is_file():
        raise BadInput(f"{what} {code.name}: no file '{code.path}'")
    if pin(file) != code.source:
        raise BadInput(f"{what} {code.name}: {file} has changed since this spec was made; make the spec anew")
    return load_module(file, f"recollect_foreign_{code.source[7:23]}", f"{what} {code.name}")
