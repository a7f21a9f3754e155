"""The house: imports only go down, and bookkeeping never loads torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "recollect"

# Each module may import from itself and from what its row names; a row may name a whole package.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "spec": {"errors"},
    "streams": set(),
    "events": set(),
    "outcome": set(),
    "protocols": {"errors"},
    "compose": {"errors", "protocols", "spec"},
    "lock": {"errors"},
    "store": {"errors", "lock", "spec"},
    "merge": {"errors", "store"},
    "table": {"compose", "errors", "store"},
    "tasks": {"errors", "spec", "streams"},
    "ops": set(),
    "mixers": {"errors", "ops", "spec"},
    "init": {"mixers"},
    "model": {"init", "mixers", "spec", "tasks"},
    "train": {"model", "mixers", "ops", "spec", "streams", "tasks"},
    "checkpoint": {"model", "train"},
    "execute": {"checkpoint", "events", "model", "outcome", "spec", "streams", "tasks", "train"},
    "check": {"errors", "mixers", "spec"},
    "executors": {"errors", "events", "execute", "spec"},
    "sweep": {"events", "executors", "select", "spec", "store"},
    "rates": set(),
    "studies": {"compose", "errors", "protocols", "rates", "spec"},
    "window": {"errors", "rates", "spec", "store"},
    "select": {"store", "window"},
    "claims": {"protocols", "select", "spec", "store", "window"},
    "report": {"compose", "errors", "outcome", "protocols", "select", "spec", "store", "studies", "window"},
    "sweepfile": {"compose", "errors", "rates", "spec", "studies"},
    "gpu": {"spec"},
    "estimate": {"execute", "gpu", "model", "spec", "tasks", "train"},
    "api": {"checkpoint", "errors", "execute", "executors", "model", "spec", "store", "sweep"},
    "cli": {"check", "compose", "errors", "events", "executors", "model", "protocols", "report", "spec", "store"}
    | {"claims", "estimate", "gpu", "lock", "merge", "select", "studies", "sweep", "sweepfile", "table", "window"},
}
TORCH_FREE = ["errors", "spec", "streams", "events", "outcome", "protocols", "compose", "store", "tasks", "sweep"]
TORCH_FREE += [
    "studies",
    "claims",
    "report",
    "cli",
    "executors",
    "lock",
    "merge",
    "table",
    "window",
    "sweepfile",
    "select",
]
TORCH_FREE += ["cli.study", "cli.status", "cli.export", "cli.store", "cli.look", "cli.report", "cli.window"]


def rooms() -> dict[str, list[Path]]:
    """Module or package -> its files."""
    found: dict[str, list[Path]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        found.setdefault(room, []).append(file)
    del found["__init__"], found["__main__"]
    return found


def imports(file: Path) -> set[str]:
    """The rooms of this package that a file imports from."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "recollect":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recollect."):
            names.add((node.module or "").split(".")[1])
    return names


def test_every_room_is_in_the_table() -> None:
    assert set(rooms()) == set(ALLOWED)


@pytest.mark.parametrize("room", ALLOWED)
def test_imports_only_go_down(room: str) -> None:
    used = set().union(*(imports(file) for file in rooms()[room])) - {room}
    assert used <= ALLOWED[room]


def test_the_table_has_no_circle() -> None:
    placed: set[str] = set()
    while ready := {room for room, below in ALLOWED.items() if room not in placed and below <= placed}:
        placed |= ready
    assert placed == set(ALLOWED)


def test_bookkeeping_does_not_import_torch() -> None:
    modules = ", ".join(f"recollect.{name}" for name in TORCH_FREE)
    code = f"import sys, recollect, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("words", [["list"], ["list", "mixers"], ["--help"], ["train", "--help"], ["protocols"]])
def test_looking_things_up_does_not_import_torch(words: list[str]) -> None:
    code = f"""import sys
from recollect.cli import main
try:
    main({words})
except SystemExit as end:
    sys.exit(end.code or ('torch' in sys.modules) * 3)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
