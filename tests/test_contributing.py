"""CONTRIBUTING.md is followed to the letter, in a copy of the tree: a toy mixer and a toy task."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

BLOCK = re.compile(r"```python\n# (?P<file>\S+), (?P<how>new|at the end)\n(?P<code>.*?)```", re.DOTALL)
CONTRACTS = ("tests/mixers/test_contract.py", "tests/tasks/test_contract.py")
TOYS = ("running_mean", "echo")
TRAIN = """
from recollect import make_spec, run
plain = {"compute.kernel": "torch"}  # nothing to compile
sizes = {"model.d_model": 16, "train.steps": 4, "train.eval_every": 2, "task.validation_rows": 8, "task.test_rows": 8}
spec = make_spec("echo", "running_mean", {**sizes, "task.vocab_size": 12, "model.mixer.bias": False, **plain})
print(run(spec).status, spec.task.short(), spec.model.mixer_name)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of package and tests with all that CONTRIBUTING.md says."""
    folder = tmp_path_factory.mktemp("tree")
    for part in ("recollect", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.db"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for block in BLOCK.finditer((ROOT / "CONTRIBUTING.md").read_text()):
        file = folder / block["file"]
        assert file.exists() == (block["how"] == "at the end"), file
        file.write_text((file.read_text() + "\n\n" if file.exists() else "") + block["code"])
    return folder


def call(tree: Path, *words: str, code: int = 0) -> str:
    """A Python command in the copy; what it prints."""
    kept = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, *words], cwd=tree, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_the_toys_keep_the_contracts(tree: Path) -> None:
    chosen = " or ".join([*TOYS, "has_a_row"])
    out = call(tree, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider", *CONTRACTS, "-k", chosen)
    assert int(re.findall(r"(\d+) passed", out)[0]) > 20


def test_the_toys_train_and_are_listed(tree: Path) -> None:
    assert call(tree, "-c", TRAIN).split("\n")[0] == "done ECHO V=12 L=32 running_mean"
    assert "running_mean" in call(tree, "-m", "recollect", "list", "mixers")
    assert "echo" in call(tree, "-m", "recollect", "list", "tasks")


def test_a_mixer_or_a_task_without_a_row_is_noticed(tree: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(tree, bare)
    for rows in ("mixer_rows", "task_rows"):
        shutil.copy(ROOT / "tests" / "support" / f"{rows}.py", bare / "tests" / "support" / f"{rows}.py")
    out = call(bare, "-m", "pytest", "-o", "addopts=", *CONTRACTS, "-k", "has_a_row", code=1)
    assert "2 failed" in out
