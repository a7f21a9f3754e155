"""The notebook runs from top to bottom, and what it says holds."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.places import ROOT

CELLS = json.loads((ROOT / "examples" / "recall.ipynb").read_text())["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
BEFORE = 'import matplotlib\nmatplotlib.use("agg")'
AFTER = """
import json
rows = table.set_index("model")[["outcome", "test_accuracy", "floors.position only"]].to_dict("index")
lines = {line.get_label(): len(line.get_ydata()) for line in axes.lines}
print(json.dumps({"rows": rows, "lines": lines, "width": found.window.width.low, "stored": len(everything)}))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What its cells leave after they ran one after the other, in one process beside the mixer that they use."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "my_mixer.py").symlink_to(ROOT / "examples" / "my_mixer.py")
    (folder / "cells.py").write_text("\n".join([BEFORE, *CODE, AFTER]))
    words = [sys.executable, "-W", "error", "cells.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_outputs_are_stripped() -> None:
    assert CODE
    assert not any(cell["outputs"] or cell["execution_count"] for cell in CELLS if cell["cell_type"] == "code")


def test_only_attention_with_a_convolution_solves_the_task(shown: dict[str, Any]) -> None:
    first, *others = shown["rows"]
    assert (first, shown["rows"][first]["outcome"]) == ("attention with a convolution", "solved")
    assert others == ["attention", "my own"]
    for row in (shown["rows"][name] for name in others):
        assert row["test_accuracy"] < row["floors.position only"] + 0.05


def test_the_figure_has_the_curves_of_the_three_and_the_floor(shown: dict[str, Any]) -> None:
    assert [*shown["lines"]] == ["attention with a convolution", "attention", "my own", "best guess from positions"]
    assert min(shown["lines"].values()) > 1


def test_the_search_uses_the_run_that_was_there(shown: dict[str, Any]) -> None:
    assert shown["width"] > 0.5
    assert shown["stored"] == 3 + 8 - 1
