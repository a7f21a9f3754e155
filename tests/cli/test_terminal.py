"""What a terminal, a pipe and a shell get: widths, filters, parts of a sweep, completion."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.claims import CLAIMS
from recollect.cli import COMMANDS, main, status
from recollect.cli.display.console import WIDEST, console, tell
from recollect.cli.display.live import Latest
from recollect.errors import BadInput
from recollect.store import Store
from recollect.store.lock import lock
from recollect.studies import STUDIES
from recollect.sweep.shards import Shard
from tests.cli.test_cli import TRAIN, call
from tests.cli.test_run import SWEEP
from tests.support.invented import fill, records_of
from tests.support.places import ROOT

Capsys = pytest.CaptureFixture[str]
LAPTOP = str(ROOT / "results" / "laptop-split" / "recollect.db")
RUN = ("run", "sweep.yaml", "--executor", "inline")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


SHOWS = {
    "claims": [["claims"], ["claims", "--long"], ["claims", "--rules"]],
    "list": [
        ["list"],
        ["list", "studies", "--long"],
        *(["list", what] for what in ("tasks", "mixers", "protocols", "studies", "claims", "runs")),
    ],
    "run": [["run", "fig1", "--scale", "smoke", "--dry-run"], ["run", "fig5", "--scale", "paper", "--help"]],
    "window": [["window", "mqar", "attention", "mamba", "--dry-run", "--steps", "2"]],
    "compare": [["compare", "lstm", "--against", "attention", "--scale", "smoke", "--dry-run"]],
    "status": [["status"]],
    "show": [["show", "RUN"], ["show", "CELL"]],
    "diff": [["diff", "RUN", "OTHER"]],
    "size": [["size"]],
    "check": [["check", "attention"]],
    "protocols": [["protocols"], ["protocols", "paper"], ["protocols", "diff", "paper", "jelassi"]],
    "store": [["store", "check"]],
    "train": [TRAIN],
    "report": [["report", "--format", "csv"]],
    "probe": [],
    "export": [],
    "completion": [],
}
"""What each command shows; the last two write for other programs."""


def test_all_commands_are_tried_for_their_width() -> None:
    assert set(SHOWS) == set(COMMANDS)


@pytest.mark.parametrize("command", SHOWS)
def test_no_line_of_any_command_is_too_long_for_a_pipe(command: str, capsys: Capsys, tmp_path: Path) -> None:
    shutil.copy(LAPTOP, tmp_path / "recollect.db")
    first, second = Store(tmp_path / "recollect.db").records()[:2]
    names = {"RUN": first.id, "OTHER": second.id, "CELL": first.cell}
    for words in [*SHOWS[command], [command, "--help"]]:
        code, out, _ = call(capsys, *(names.get(word, word) for word in words))
        assert code in (0, 1), words
        assert out.strip(), words
        assert max(map(len, out.splitlines())) <= WIDEST, words


def test_a_narrow_pipe_is_respected_and_a_wide_one_is_not(monkeypatch: pytest.MonkeyPatch, capsys: Capsys) -> None:
    text = "  one: " + "word " * 60
    for columns, widest in (("50", 50), ("500", WIDEST)):
        monkeypatch.setenv("COLUMNS", columns)
        tell(text)
        lines = capsys.readouterr().out.splitlines()
        assert widest - 6 < max(map(len, lines)) <= widest
        assert all(line.startswith("    word") for line in lines[1:])
        assert console().width == widest


@pytest.mark.parametrize("columns", [60, 120])
def test_a_claim_is_one_line_that_starts_with_its_number_and_its_verdict(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: Capsys, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    changed = "laptop (attention, 2 layers; task.vocabulary=split; lrs 0.00316228)"
    fill(tmp_path / "recollect.db", records_of(lrs=(0.1,)), "fig1", changed)
    head, *lines, tally = call(capsys, "claims")[1].splitlines()
    assert head.split() == ["verdict", "scale", "claim"]
    assert [re.match(r"(\d+) +(?:open|supported|contradicted) ", line)[1] for line in lines] == [*map(str, CLAIMS)]  # type: ignore[index]
    assert max(map(len, lines)) <= columns
    assert "laptop (att" in lines[0]
    assert tally == f"0 supported, 0 contradicted, {len(CLAIMS)} open"


def test_text_of_users_is_never_markup(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "smile.py").write_text((ROOT / "examples" / "my_mixer.py").read_text())
    sweep = SWEEP.replace("[attention, lstm]", "smile.py:GatedAverage").replace("[1, 2]", "1")
    (tmp_path / "sweep.yaml").write_text(f"name: 'a [b]c[/b] :smile:'\n{sweep}")
    assert call(capsys, *RUN)[0] == 0
    assert "a [b]c[/b] :smile:" in call(capsys, "status")[1]
    (one, other) = Store(tmp_path / "recollect.db").records()
    assert "smile.py:GatedAverage" in call(capsys, "list", "runs")[1]
    assert one.id in call(capsys, "diff", one.id, other.id)[1]
    err = call(capsys, "train", "mqar", "nowhere.py:M", "--set", "x[red]=:smile:")[2]
    assert "x[red]" in err


def test_runs_are_listed_by_what_they_are(capsys: Capsys) -> None:
    call(capsys, *RUN)

    def listed(*words: str) -> list[list[str]]:
        return [line.split() for line in call(capsys, "list", "runs", *words)[1].splitlines()[1:]]

    assert len(listed()) == 8
    assert [line[2] for line in listed("--mixer", "lstm", "--seed", "1")] == ["lstm", "lstm"]
    assert {line[5] for line in listed("--lr", "0.05", "1")} == {"0.1"}
    assert len(listed("--study", "sweep", "--status", "done", "--last", "3")) == 3
    assert listed("--study", "other") == listed("--task", "copy") == listed("--last", "0") == []
    assert listed("--outcome", listed()[0][8]) != []
    assert call(capsys, "list", "mixers", "--seed", "1")[0] == 2


@pytest.mark.parametrize("is_json", [False, True], ids=["table", "json"])
def test_who_watches_sees_the_last_run_end(
    is_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: Capsys, tmp_path: Path
) -> None:
    call(capsys, *RUN, "--limit", "1")
    held = lock(tmp_path / "recollect.db")
    held.__enter__()
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            held.__exit__(None, None, None)

    monkeypatch.setattr(status.time, "sleep", sleep)
    code, out, _ = call(capsys, "status", "--watch", *["--json"] * is_json)
    assert (code, len(waited)) == (0, 3)
    if is_json:
        looks = [json.loads(line) for line in out.splitlines()]
        assert [look["writer"] is None for look in looks] == [False, False, False, True]
        assert looks[-1]["studies"][0]["statuses"]["done"] == 1
    else:
        assert "nobody is writing" in out


READERS = (["claims"], ["status"], ["list", "runs"], ["show", "a"], ["diff", "a", "b"], ["export", "--csv"], ["report"])


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_whoever_only_reads_needs_a_store(words: list[str], capsys: Capsys, tmp_path: Path) -> None:
    code, out, err = call(capsys, *words, "--store", "nowhere.db")
    assert (code, out) == (2, "")
    assert "no store at nowhere.db" in err
    assert not (tmp_path / "nowhere.db").exists()


def test_a_file_without_its_class_is_told_which_to_add(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "my_gru.py").write_text("from torch import nn\nclass GRU(nn.Module): ...\n")
    assert "add `:GRU`" in call(capsys, "check", "my_gru.py")[2]
    (tmp_path / "two.py").write_text("class A: ...\nclass B: ...\n")
    assert "add `:A` or `:B`" in call(capsys, "train", "mqar", "two.py")[2]
    assert "write none.py:Class" in call(capsys, "train", "mqar", "none.py")[2]


def test_studies_are_two_lines_each_unless_more_is_asked_for(capsys: Capsys) -> None:
    brief, long = (call(capsys, "list", "studies", *words)[1] for words in ([], ["--long"]))
    assert len(brief.splitlines()) < 4 * len(STUDIES) < len(long.splitlines())
    assert "  smoke 6 runs; laptop 45 runs, 45 min; desk 45 runs, 7.3 h; paper 6,120 runs\n" in brief
    assert "instead of" not in brief
    assert "V=64 instead of 8192" in long
    assert call(capsys, "list", "mixers", "--long")[0] == 2


def test_a_word_too_many_is_named(capsys: Capsys) -> None:
    code, _, err = call(capsys, "store", "check", "here.db")
    assert (code, err) == (2, "recollect: nothing here takes 'here.db'; `--help` says what does\n")


def test_a_task_of_a_wrong_name_is_told_the_nearest(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "my_task.py").write_text((ROOT / "examples" / "my_task.py").read_text())
    assert "did you mean 'Sum'?" in call(capsys, "train", "my_task.py:Summ", "mamba", "--lr", "1e-3")[2]
    (tmp_path / "none.py").write_text("")
    assert call(capsys, "train", "none.py:Sum", "mamba", "--lr", "1e-3")[2].endswith("is needed\n")


def test_the_state_of_a_mixer_that_does_not_tell_it_is_unknown(capsys: Capsys) -> None:
    assert "state unknown" in call(capsys, "size", "mqar", "torch.nn:Identity")[1]
    assert json.loads(call(capsys, "size", "mqar", "torch.nn:Identity", "--json")[1])["state_size"] is None
    assert (
        "the state of torch.nn:Identity is unknown"
        in call(capsys, "size", "mqar", "torch.nn:Identity", "--state", "9")[2]
    )


def test_live_numbers_are_never_those_of_an_untrained_model() -> None:
    latest = Latest()
    latest.point(0, {"validation_loss": 4.2, "validation_accuracy": 0.01})
    assert str(latest) == ""
    latest.progressed({"train_loss": 3.0, "train_accuracy": 0.2})
    assert str(latest) == "train loss 3.000  train accuracy 0.200"
    latest.point(250, {"train_loss": 2.0, "validation_loss": 1.0, "validation_accuracy": 0.5})
    latest.progressed({"train_loss": 0.5, "train_accuracy": 0.9})
    assert str(latest).endswith("train accuracy 0.900  train loss 2.000  val loss 1.000  val accuracy 0.500 (step 250)")


@pytest.mark.parametrize("design", ["every", "best", "window"])
@pytest.mark.parametrize("of", [1, 3, 7, 100])
def test_every_run_is_in_exactly_one_shard(design: str, of: int) -> None:
    cases = STUDIES["fig1"].cases("laptop")
    parts = [Shard(number, of).cut(cases, design) for number in range(1, of + 1)]  # type: ignore[arg-type]
    ids = [case.spec.id for part in parts for case in part]
    assert sorted(ids) == sorted(case.spec.id for case in cases)
    if design == "every":
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    else:
        cells = [{case.spec.cell for case in part} for part in parts]
        assert sum(map(len, cells)) == len({case.spec.cell for case in cases})


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/0", "-1/2", "a/b", "1/2/3"])
def test_a_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--shard: a part and how many"):
        Shard.read(text)


@pytest.mark.parametrize("design", ["every", "best", "window"])
def test_shards_merge_into_what_one_job_would_have_made(design: str, capsys: Capsys, tmp_path: Path) -> None:
    words = [*RUN, "--design", design, *(["--max-runs", "3"] if design == "window" else [])]
    call(capsys, *words, "--store", "whole.db")
    told = [call(capsys, *words, "--shard", f"{number}/3")[1] for number in (1, 2, 3)]
    parts = sorted(path.name for path in tmp_path.glob("recollect-*of3.db"))
    assert "recollect store merge recollect.db recollect-*of3.db" in " ".join(told[0].split())
    assert not (tmp_path / "recollect.db").exists()
    call(capsys, "store", "merge", "recollect.db", *parts)
    whole, merged = (Store(tmp_path / f"{name}.db") for name in ("whole", "recollect"))
    results = [{run.id: run.result for run in store.records(status="done")} for store in (whole, merged)]
    assert results[0] == results[1]
    out = call(capsys, *words)[1]
    assert design == "window" or f"{len(results[0])} runs, {len(results[0])} of them done before" in out
    for store in (whole, merged):
        assert set(store.labels(*store.studies()[0])) == set(results[0])
    assert "all its runs are done" in call(capsys, *words, "--shard", "1/1")[1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_and_names(capsys: Capsys) -> None:
    script = call(capsys, "completion", "bash")[1]
    for line, expected in {
        "recollect stat": "status",
        "recollect train m": "mqar",
        "recollect run fig1 --sc": "--scale",
    }.items():
        words = line.split()
        asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _recollect; printf "%s\\n" "${{COMPREPLY[@]}}"'
        found = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
        assert expected in found.stdout.split(), line


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(shell: str, capsys: Capsys) -> None:
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0
    assert all(name in out for name in (*COMMANDS, *STUDIES, "--shard"))


def test_help_is_as_wide_as_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", out := io.StringIO())
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert max(map(len, out.getvalue().splitlines())) == WIDEST


@pytest.mark.parametrize("rest", [">&-", "| head -1"])
def test_output_that_nobody_reads_is_no_error(rest: str) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    words = [bash, "-o", "pipefail", "-c", f"'{sys.executable}' -m recollect list mixers {rest}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
