"""If the README or the page on studies shows a command, it runs (with a small budget)."""

import re
import shlex
from pathlib import Path

import pytest

from recollect.cli import main
from recollect.store import Store
from tests.support.places import ROOT

TEXT = "".join((ROOT / name).read_text() for name in ("README.md", "docs/studies.md"))
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
LINES = [line for kind, body in BLOCKS if kind == "sh" for line in body.splitlines() if line]
COMMANDS = [shlex.split(line, comments=True)[1:] for line in LINES if line.startswith("recollect ")]
(CODE,) = (body for kind, body in BLOCKS if kind == "python")
EXAMPLE = CODE.replace('"model.n_layers": 2', '"model.n_layers": 2, "train.steps": 2')
TWO_STEPS = ["--steps", "2", "--set", "task.validation_rows=8"]
QUICK = {"train": TWO_STEPS, "window": [*TWO_STEPS, "--executor", "inline"], "run": ["--scale", "smoke"]}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("examples", "results"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    Store(tmp_path / "recollect.db", create=True).close()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_works(words: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([*words, *QUICK.get(words[0], [])])
    assert end.value.code == 0


def test_the_python_example_works() -> None:
    exec(EXAMPLE, {})


def test_every_make_target_exists() -> None:
    targets = {line.split()[1] for line in LINES if line.startswith("make ")}
    makefile = (ROOT / "Makefile").read_text()
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_every_linked_file_exists() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / link).exists(), link
