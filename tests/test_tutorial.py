"""docs/your-mixer.md is followed to the letter, from an empty directory to a figure, at the smallest scale."""

import re
import shlex
from pathlib import Path

import pytest

from recollect.cli import main
from tests.support.places import ROOT

TEXT = (ROOT / "docs/your-mixer.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
QUICK = {
    "train": ["--steps", "2", "--set", "task.validation_rows=8"],
    "compare": ["--scale", "smoke", "--max-runs", "2", "--executor", "inline"],
}
SMALL = {'store="recollect.db"': 'store="recollect.db", scale="smoke", max_runs=2, executor="inline"'}
SMALL |= {"accuracy_64": "accuracy_32"}


def test_an_empty_directory_becomes_a_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = []
    for kind, body in BLOCKS:
        if kind == "sh":
            for words in (shlex.split(line)[1:] for line in body.splitlines()):
                with pytest.raises(SystemExit) as end:
                    main([*words, *QUICK.get(words[0], [])])
                assert end.value.code == 0, (words, capsys.readouterr().err)
                done.append(words[0])
        elif found := re.match(r"# (\S+\.py)\n", body):
            Path(found[1]).write_text(body)
        else:
            for large, small in SMALL.items():
                body = body.replace(large, small)
            exec(body, {})
    assert done == ["check", "train", "compare", "compare", "compare"]
    assert {"compare.png", "compare.tex", "report.html"} <= {file.name for file in Path("figures").iterdir()}
    assert Path("paper/compare.pdf").exists()
    assert "my.py:Mixer" in capsys.readouterr().out


def test_a_mixer_that_looks_ahead_is_told_so_as_the_text_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = (body for _, body in BLOCKS if body.startswith("# my.py"))
    Path("my.py").write_text(code.replace(".tril()", ""))
    with pytest.raises(SystemExit) as end:
        main(["check", "my.py:Mixer"])
    assert end.value.code
    told = capsys.readouterr()
    assert "it looks ahead" in told.out + told.err


def test_every_linked_page_exists() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        assert (ROOT / "docs" / link).exists(), link
