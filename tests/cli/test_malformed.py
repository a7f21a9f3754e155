"""Whatever is asked wrongly gets one sentence, exit code 2, and writes nothing."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect import run
from recollect.cli import main
from tests.support.broken_stores import broken
from tests.support.malformed import lines
from tests.support.small import tiny

LONGEST = 300
SECONDS = 10
"""Of processor time, so that a busy machine does not count."""

MEMORY = 4 * 2**30
LINES, STORES = (1200, 300) if "RECOLLECT_MANY" in os.environ else (120, 30)


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int | str, str]:
    """The exit code, or what went wrong instead of one, and what was said on standard error."""
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        main(words)
    except SystemExit as end:
        return int(end.code or 0), capsys.readouterr().err
    except BaseException as error:
        return f"{type(error).__name__}: {error}", ""
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "no exit", ""


def _late(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def refused(code: int | str, said: str) -> str:
    """What is wrong with how a line was refused; empty where nothing is."""
    if code != 2:
        return f"exit code {code}"
    sound = said.count("\n") == 1 and said.startswith("recollect: ") and len(said) <= LONGEST
    return "" if sound else f"said: {said!r}"


def test_malformed_input_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, here = tmp_path / "files", tmp_path / "here"
    files.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    tried = {}
    for words in lines(files, LINES):
        problem = refused(*answer(words, capsys))
        tried[" ".join(words)[:120]] = problem or ("something was written" if any(here.iterdir()) else "")
    assert not {line: problem for line, problem in tried.items() if problem}


def test_a_broken_store_is_read_or_refused_by_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2):
        run(tiny(seed=seed), store=tmp_path / "sound.db")
    files = tmp_path / "files"
    files.mkdir()
    tried = {}
    for words in broken((tmp_path / "sound.db").read_bytes(), files, STORES):
        before = {file: file.read_bytes() for file in files.glob("broken*.db")}
        code, said = answer(words, capsys)
        allowed = (0, 1) if words[:2] == ["store", "check"] else (0,)
        problem = "" if code in allowed else refused(code, said)
        changed = [file.name for file, data in before.items() if file.read_bytes() != data]
        tried[" ".join(words)] = problem or (f"changed {changed}" if changed else "")
    assert not {line: problem for line, problem in tried.items() if problem}


@pytest.mark.prove
def test_ten_times_as_many_in_four_gigabytes() -> None:
    """The two tests above, in a process of their own; threads that nobody needs would take address space."""
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "RECOLLECT_MANY": "1"}
    words = [sys.executable, "-m", "pytest", "-m", "not prove", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(words, preexec_fn=_limit, capture_output=True, text=True, check=False, env=os.environ | alone)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
