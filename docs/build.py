"""Makes the API pages from the docstrings, offline.

    make docs

The package with its public names, a page for every room, and one for every file of those rooms that are read file by
file. The command line has `--help`.
"""

import sys
from collections.abc import Iterator
from inspect import Signature
from pathlib import Path
from pkgutil import walk_packages
from typing import get_type_hints

from pdoc.doc import Module
from pdoc.render import configure, html_index, html_module, search_index

import recollect
from recollect.spec import Frozen, MixerOptions, ModelSpec, RunSpec, TaskOptions

HERE = Path(__file__).parent
READ = ("spec", "tasks", "mixers", "inside")
"""Rooms with a page for every file."""


def names() -> Iterator[str]:
    """The modules that get a page, the package first."""
    yield "recollect"
    for found in walk_packages(recollect.__path__, "recollect."):
        room, _, file = found.name.removeprefix("recollect.").partition(".")
        if room in READ if file else room not in ("cli", "__main__"):
            yield found.name


def simplify(kind: type[Frozen]) -> None:
    """Types of fields as type checkers see them, here and below; a field that must be given shows no default."""
    hints = get_type_hints(kind)
    kind.__annotations__.update({name: hints[name] for name in kind.__annotations__})
    for field in kind.model_fields.values():
        field.default = Signature.empty if field.is_required() else field.default
    for below in kind.__subclasses__():
        simplify(below)


def modules() -> dict[str, Module]:
    """Name -> what pdoc reads of it; lazy names are looked up first, and a package lists all files that have a page."""
    vars(recollect).update({name: getattr(recollect, name) for name in recollect.__all__})
    simplify(Frozen)
    RunSpec.__annotations__["task"] = TaskOptions  # not the union of all there are
    ModelSpec.__annotations__["mixer"] = MixerOptions | tuple[MixerOptions, ...]
    found = {name: Module.from_name(name) for name in names()}
    for name, module in found.items():
        module.submodules = [found[other] for other in found if other.rpartition(".")[0] == name]
    return found


def write(folder: Path) -> None:
    """All pages, the way in (index.html) and the search."""
    configure(docformat="markdown", show_source=False, template_directory=HERE / "pdoc")
    found = modules()
    pages = {f"{name.replace('.', '/')}.html": html_module(module, found) for name, module in found.items()}
    for name, text in {**pages, "index.html": html_index(found), "search.js": search_index(found)}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
