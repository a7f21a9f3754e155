"""Whatever is asked wrongly gets one sentence, exit code 2, and writes nothing."""

from pathlib import Path

import pytest

from recollect.cli import main
from tests.support.malformed import lines

LONGEST = 300


def refuse(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is wrong with how a line was refused; empty where nothing is."""
    before = sorted(folder.rglob("*"))
    try:
        main(words)
        return "accepted"
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    captured = capsys.readouterr()
    if code != 2:
        return f"exit code {code}"
    if captured.err.count("\n") != 1 or not captured.err.startswith("recollect: ") or len(captured.err) > LONGEST:
        return f"said: {captured.err!r}"
    return "" if sorted(folder.rglob("*")) == before else "something was written"


@pytest.mark.parametrize("count", [120, pytest.param(1200, marks=pytest.mark.prove)])
def test_malformed_input_is_one_sentence(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, here = tmp_path / "files", tmp_path / "here"
    files.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    tried = {" ".join(words)[:120]: refuse(words, here, capsys) for words in lines(files, count)}
    assert not {line: problem for line, problem in tried.items() if problem}
