"""The house: imports only go down, and bookkeeping never loads torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "recollect"

# Each room may import from itself and from what its row names, all of which stand above it.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "ops": {"errors"},
    "spec": {"errors", "ops"},
    "tasks": {"errors", "spec"},
    "mixers": {"errors", "ops", "spec"},
    "training": {"errors", "mixers", "ops", "spec", "tasks"},
    "inside": {"errors", "mixers", "ops", "spec", "tasks", "training"},
    "store": {"errors", "spec", "tasks"},
    "window": {"errors", "spec", "store"},
    "studies": {"errors", "spec", "window"},
    "claims": {"inside", "spec", "store", "studies", "window"},
    "sweep": {"errors", "inside", "spec", "store", "studies", "training", "window"},
    "report": {"errors", "inside", "spec", "store", "studies", "window"},
    "api": {"errors", "inside", "report", "spec", "store", "studies", "sweep", "training", "window"},
    "cli": {
        *("api", "claims", "errors", "inside", "mixers", "report", "spec", "store", "studies", "sweep", "tasks"),
        *("training", "window"),
    },
}
TORCH_FREE = [room for room in ALLOWED if room not in ("ops", "mixers", "training", "inside", "api")] + [
    "inside.decay",
    "inside.phases",
    "inside.scores",
    "training.costs",
    "training.processor",
]
COMMANDS = (
    "claims",
    "compare",
    "diff",
    "export",
    "list",
    "probe",
    "report",
    "run",
    "show",
    "status",
    "store",
    "train",
    "window",
)


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


def test_the_table_is_in_order_so_that_there_is_no_circle() -> None:
    placed: set[str] = set()
    for room, below in ALLOWED.items():
        assert below <= placed, room
        placed.add(room)


def test_bookkeeping_does_not_import_torch() -> None:
    modules = ", ".join(f"recollect.{name}" for name in [*TORCH_FREE, *(f"cli.{name}" for name in COMMANDS)])
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


def test_sizes_and_training_do_not_load_torchs_compiler() -> None:
    code = """import sys
from recollect import make_spec
from recollect.training.execute import execute
from recollect.training.model import sizes
fields = {"train.steps": 2, "task.validation_rows": 4, "task.test_rows": 4, "train.lr_norms": 0.1}
sizes(make_spec("mqar", "mamba", fields))
list(execute(make_spec("mqar", "attention", fields)))
sys.exit('torch._dynamo' in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
