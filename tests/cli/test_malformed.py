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


EXAMPLES = Path(__file__).parents[2] / "examples"
TRAIN = ["train", "mqar", "attention", "--set"]
ASKED: list[tuple[list[str], str]] = [
    (
        [*TRAIN, "train.clip=inf"],
        "train: train.clip: a finite number above 0, or null, which clips nothing (got 'inf')",
    ),
    ([*TRAIN, "train.eps=.inf"], "train: train.eps: input should be a finite number (got inf)"),
    (["train", "mqar", "gla", "--set", "model.mixer.temperature=.inf"], "temperature: input should be a finite number"),
    (["check", "mqar", "--set", "task.length=7"], "task mqar: length must be even (got 7)"),
    (["check", "mqar", "--set", "task.lenght=8"], "task mqar: unknown name 'lenght'; did you mean 'length'?"),
    (["check", "mamba", "--d-model", "0"], "check: --d-model: a whole number >= 1 (got 0)"),
    (["check", "mamba", "--d-model=-8"], "check: --d-model: a whole number >= 1 (got -8)"),
    (["check", "mamba", "--d-model", "1000000000"], "model.d_model: input should be less than or equal to 131072"),
    (["check", "mamba", "--d-model", "131072"], "; make model, batch or rows smaller"),
    (["check", "mamba", "--length", "0"], "check: --length: a whole number >= 1 (got 0)"),
    (["check", "mamba", "--n-layers", "0"], "check: --n-layers: a whole number >= 1 (got 0)"),
    (
        ["train", f"{EXAMPLES}/my_task.py:Sum", "attention", "--set", "task.validation_rows=-3"],
        "task my_task.py:Sum: validation_rows: input should be greater than 0 (got -3)",
    ),
    (
        ["train", "mqar", f"{EXAMPLES}/my_mixer.py:GatedAverage", "--set", "model.mixer.name=foo"],
        "mixer my_mixer.py:GatedAverage: 'name' cannot be set, it says which code runs",
    ),
    (
        ["train", "mqar", f"{EXAMPLES}/my_mixer.py:GatedAverage", "--set", "model.mixer.decay=.inf"],
        "mixer my_mixer.py:GatedAverage: decay: finite numbers, texts, lists and mappings only (got inf)",
    ),
]


@pytest.mark.parametrize(("words", "expected"), ASKED, ids=lambda part: "" if isinstance(part, str) else part[-1])
def test_what_is_wrong_is_named(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = answer(words, capsys)
    assert not refused(code, said)
    assert expected in said
    assert not any(tmp_path.iterdir())


FILES = {
    "1: 2": "train: unknown name '1'",
    "train: {1: 2}": "train: unknown name 'train.1'; did you mean 'train.lr'?",
    "train: {lr: 1e-3}\ntrain.lr: 1e-2": "train.lr is given twice",
}


@pytest.mark.parametrize("text", FILES)
def test_what_is_wrong_in_a_file_of_fields_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.yaml").write_text(text)
    code, said = answer(["train", "mqar", "attention", "--spec", str(tmp_path / "spec.yaml")], capsys)
    assert not refused(code, said)
    assert FILES[text] in said


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
