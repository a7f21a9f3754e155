"""The command line as a user meets it."""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from recollect.cli import main
from recollect.spec import MIXERS, RunSpec, make_spec
from recollect.store import Store
from recollect.training.budget import Budget, fit_width
from recollect.training.model import sizes
from tests.support.small import TINY, tiny


def set_words(fields: Mapping[str, Any]) -> list[str]:
    """Fields as options."""
    plain = {key: "null" if value is None else value for key, value in fields.items()}
    return [word for key, value in plain.items() for word in ("--set", f"{key}={value}")]


TINY_SETS = set_words(TINY)
TRAIN = ["train", "mqar", "attention", "--lr", "0.01", *TINY_SETS]


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as end:
        main(list(words))
    out = capsys.readouterr()
    return int(end.value.code or 0), out.out, out.err


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_train_prints_the_result_and_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *TRAIN)
    assert code == 0
    assert "test accuracy" in out
    assert "floors: 1/K 50.0%" in out
    assert "store recollect.db" in err
    assert "12/12 steps" in err
    code, out, _ = call(capsys, *TRAIN)
    assert "stored; not run again" in out


def test_training_on_strings_says_strings_and_characters(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["task.max_length=6", "task.context=20", "task.eval_lengths=[5, 9]", "task.eval_rows=9"]
    words = [word for size in sizes for word in ("--set", size)] + TINY_SETS[6:]
    code, out, _ = call(capsys, "train", "copy", "lstm", *words)
    assert code == 0
    assert "(characters " in out
    assert "evaluations.length=9.character_accuracy" in call(capsys, "export", "--csv")[1]


def test_train_json_is_one_object_with_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, *TRAIN, "--json")
    found: dict[str, Any] = json.loads(out)
    promised = {"id", "spec", "outcome", "test_accuracy", "validation_accuracy", "steps", "n_params", "state_size"}
    assert promised | {"curves", "seconds"} <= set(found)
    assert {"step", "train_loss", "train_accuracy", "validation_loss", "validation_accuracy"} == set(found["curves"])
    assert found["spec"]["train"]["lr"] == 0.01


def test_a_yaml_file_overrides_the_protocol_and_the_line_overrides_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "my.yaml").write_text("task: {length: 12, n_pairs: 3}\ntrain: {lr: 1e-3}\ntrain.steps: 3\nseed: 4\n")
    words = [*TINY_SETS[6:], "--spec", "my.yaml", "--seed", "5", "--json"]
    _, out, _ = call(capsys, "train", "mqar", "attention", *words)
    spec = json.loads(out)["spec"]
    assert (spec["task"]["length"], spec["train"]["lr"], spec["train"]["steps"], spec["seed"]) == (12, 1e-3, 12, 5)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [(("--outcome", "solvd"), "solved"), (("--mixer", "mambaa"), "mamba"), (("--task", "mqra"), "mqar")],
)
def test_runs_are_looked_for_by_names_that_exist(
    capsys: pytest.CaptureFixture[str], words: tuple[str, str], nearest: str
) -> None:
    call(capsys, *TRAIN)
    code, out, err = call(capsys, "list", "runs", *words)
    assert (code, out) == (2, "")
    assert err == f"recollect: {words[0]}: unknown name '{words[1]}'; did you mean '{nearest}'?\n"
    assert "none of the 1 runs is like that" in call(capsys, "list", "runs", words[0], nearest, "--seed", "99")[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--study nosuch", "--study: recollect.db knows no study"),
        ("--last -3", "--last: must be at least 1 (got -3)"),
        ("--lr 1e-1 1e-3", "--lr: give the lower rate first (got 0.1 0.001)"),
        ("--lr nan 1", "--lr: give the lower rate first (got nan 1)"),
    ],
)
def test_filters_that_no_run_can_pass_are_refused(capsys: pytest.CaptureFixture[str], words: str, told: str) -> None:
    Store(Path("recollect.db"), create=True)
    assert call(capsys, "list", "runs", *words.split()) == (2, "", f"recollect: {told}\n")


def test_runs_are_looked_for_in_studies_that_the_store_knows(capsys: pytest.CaptureFixture[str]) -> None:
    Store(Path("recollect.db"), create=True).link("demo", "smoke", {tiny().id: "attention"})
    told = "recollect: --study: unknown name 'dmeo'; did you mean 'demo'?\n"
    assert call(capsys, "list", "runs", "--study", "dmeo") == (2, "", told)


def test_looking_things_up(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [json.loads(call(capsys, *TRAIN, "--seed", seed, "--json")[1])["id"] for seed in ("1", "2")]
    assert ids[0] in call(capsys, "list", "runs")[1]
    assert "train.lr = 0.01" in call(capsys, "show", ids[0][:8])[1]
    assert json.loads(call(capsys, "show", ids[0], "--json")[1])["id"] == ids[0]
    table = call(capsys, "diff", *ids)[1]
    assert "seed" in table
    assert "lr" not in table
    assert "conv_at" in call(capsys, "list", "mixers")[1]
    assert_mixers_are_grouped(call(capsys, "list", "mixers")[1])
    assert "power_a" in call(capsys, "list", "tasks")[1]
    assert "demo" in call(capsys, "list")[1]
    assert "parameters" in call(capsys, "size", "mqar", "attention", "--d-model", "128")[1]
    assert "train.epochs" in call(capsys, "protocols", "diff", "paper", "zoology")[1]
    assert "task.vocab_size = 8192" in call(capsys, "protocols", "paper")[1]


def assert_mixers_are_grouped(text: str) -> None:
    """Every family once, its mixers after it, each with its paper and what its ops have."""
    lines = text.splitlines()
    families = [line.split()[0] for line in lines if line.startswith(("softmax ", "linear ", "ssm ", "delta ", "rnn "))]
    assert families == ["softmax", "linear", "ssm", "delta", "rnn"]
    first = {name: next(i for i, line in enumerate(lines) if line.split()[:1] == [name]) for name in ("rnn", *MIXERS)}
    assert first["gla"] < first["mamba3"] < first["kda"] < first["rnn"] < first["mlstm"]
    about = " ".join(lines[first["kda"] : first["rnn"]])
    assert "Kimi Team 2025" in about
    assert "kda (numba, torch, loop, fla)" in about


def test_the_width_for_a_budget_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["size", "copy", "--mixer", "mamba", "--n-layers", "3", "--json"]
    found = json.loads(call(capsys, *words, "--params", "200k")[1])
    assert found["d_model"] % 8 == 0
    counts = {
        step: json.loads(call(capsys, *words, "--d-model", str(found["d_model"] + step))[1])["n_params"]
        for step in (-8, 0, 8)
    }
    assert counts[0] == found["n_params"]
    assert abs(counts[0] - 200_000) == min(abs(count - 200_000) for count in counts.values())
    heads = ["size", "mqar", "attention", "--set", "model.mixer.n_heads=12", "--params", "1.5e5", "--json"]
    assert json.loads(call(capsys, *heads)[1])["d_model"] % 12 == 0
    assert call(capsys, "size", "--params", "30_000")[1].startswith("d_model ")


def test_the_width_for_a_state_is_the_closest_also_where_more_heads_make_it_smaller() -> None:
    for mixer, numbers in (("gla", 20_000), ("rwkv7", 10_000), ("kda", 16_384)):
        budget = Budget(numbers, 1, "--state")

        def made(width: int, mixer: str = mixer) -> RunSpec:
            return make_spec("mqar", mixer, {"model.d_model": width, "model.n_layers": 1}, protocol="laptop")

        closest = min(budget.missed(made(width)) for width in range(8, 801, 8))
        assert budget.missed(fit_width(budget, 8, made)) == closest


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--mixer kda --d-model 48 --state 1M", "at width 48 the closest is n_heads 1 with a state of 2,736 numbers"),
        ("--mixer kda --d-model 48 --state 10", "the closest is n_heads 48"),
        ("--mixer attention --d-model 64 --state 8192", "only the width sets the state of attention"),
        ("--mixer mamba --d-model 64 --set model.mixer.d_state=8 --state 8192", "only the width sets the state"),
        ("--mixer mamba3 --d-model 64 --state 10", "even the d_state 2 has a state of 388"),
    ],
)
def test_a_state_that_no_option_gives_is_refused(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "size", "--n-layers", "1", *words.split())
    assert (code, out) == (2, "")
    assert told in err


@pytest.mark.parametrize("mixer", ["gla", "mlstm"])
def test_keys_are_widened_where_heads_cannot_give_the_state(mixer: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["size", "--mixer", mixer, "--n-layers", "1", "--d-model", "64", "--state", "8192", "--json"]
    found = json.loads(call(capsys, *words)[1])
    assert abs(found["state_size"] - 8192) < 0.01 * 8192
    assert found["d_key"] > 100


@pytest.mark.parametrize(("mixer", "option"), [("kda", "n_heads"), ("mamba3", "d_state"), ("rwkv7", "head_dim")])
def test_size_finds_the_width_or_an_option_for_a_state(
    mixer: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["size", "--mixer", mixer, "--n-layers", "1", "--state", "4096", "--json"]
    found = json.loads(call(capsys, *words)[1])
    widths = {width: sizes_of(mixer, {"model.d_model": width})[1] for width in range(8, 129, 8)}
    assert found["state_size"] == widths[found["d_model"]]
    assert abs(found["state_size"] - 4096) == min(abs(size - 4096) for size in widths.values())
    at_width = json.loads(call(capsys, *words, "--d-model", "96")[1])
    assert at_width["d_model"] == 96
    again = {"model.d_model": 96, f"model.mixer.{option}": at_width[option]}
    assert at_width["state_size"] == sizes_of(mixer, again)[1]
    assert abs(at_width["state_size"] - 4096) < 0.2 * 4096


def sizes_of(mixer: str, fields: dict[str, Any]) -> tuple[int, int]:
    """Parameters and state of one layer."""
    return sizes(make_spec("mqar", mixer, fields | {"model.n_layers": 1}, protocol="laptop"))


def test_check_says_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "check", "attention", "--set", "conv=k")
    assert code == 0
    assert out.count("holds ") == 7
    code, out, _ = call(capsys, "check", "torch.nn:Identity")
    assert code == 1
    assert "BROKEN  uses the past" in out


BAD = {
    "an unknown key": (["train", "mqar", "attention", "--set", "task.lenght=64"], "did you mean 'task.length'"),
    "a misspelt mixer": (["train", "mqar", "atention"], "did you mean 'attention'"),
    "a misspelt task": (["train", "mqra", "attention"], "did you mean 'mqar'"),
    "a misspelt command": (["trian"], 'Did you mean "train"'),
    "an unknown flag": (["train", "mqar", "attention", "--foo", "1"], "--foo"),
    "an odd length": (["train", "mqar", "attention", "--set", "task.length=33"], "even (got 33)"),
    "too many pairs": (["train", "mqar", "attention", "--set", "task.n_pairs=9"], "4 * n_pairs"),
    "a zero rate": (["train", "mqar", "attention", "--lr", "0"], "greater than 0"),
    "a rate that is nan": (["train", "mqar", "attention", "--lr", "nan"], "finite"),
    "heads": (["train", "mqar", "attention", "--set", "model.mixer.n_heads=5"], "must divide 64"),
    "a directory as store": (["train", "mqar", "attention", "--store", "."], "is a directory"),
    "another program's file": (["train", "mqar", "attention", "--store", "notes.txt"], "another program"),
    "no such file": (["train", "mqar", "nowhere.py:Mine"], "no file 'nowhere.py'"),
    "a file that raises": (["train", "mqar", "bad.py:Mine"], "raised ZeroDivisionError"),
    "no such class": (["train", "mqar", "empty.py:Mine"], "no nn.Module class 'Mine'"),
    "a setting twice": (
        ["train", "mqar", "attention", "--set", "seed=1", "--set", "seed=2"],
        "--set seed: given twice",
    ),
    "no module": (["train", "mqar", ":Mixer"], "names no class"),
    "half a setting": (["train", "mqar", "attention", "--set", "task.length"], "field=value"),
    "no yaml file": (["train", "mqar", "attention", "--spec", "none.yaml"], "cannot be read"),
    "a misspelt protocol": (["train", "mqar", "attention", "--protocol", "papre"], "did you mean 'paper'"),
    "a misspelt study": (["run", "dmeo"], "did you mean 'demo'"),
    "a scale that the study lacks": (["run", "demo", "--scale", "paper"], "no scale 'paper'"),
    "a budget that is no number": (["size", "--params", "many"], "such as 150M"),
    "a budget that is too small": (["size", "--params", "10"], "even the width 8 has"),
    "a budget that is too large": (["size", "--params", "1e15"], "add layers"),
    "a budget and a width": (["size", "--params", "1M", "--d-model", "64"], "not both"),
    "a budget beyond all numbers": (["size", "--params", "1e400"], "above 0 and up to 1e+15"),
    "a state beyond all numbers": (["size", "--state", "1e15g"], "above 0 and up to 1e+15"),
    "two budgets": (["size", "--params", "1M", "--state", "1k"], "not both"),
    "a state that is no number": (["size", "--state", "many"], "--state: a number above 0"),
    "a state that is too small": (["size", "--state", "9", "--mixer", "kda"], "even the width 8 has a state of"),
    "a state that no option sets": (["size", "--state", "99", "--mixer", "lstm", "--d-model", "8"], "only the width"),
    "a state for several mixers": (["size", "--state", "99", "--mixer", "kda,gla", "--d-model", "8"], "several mixers"),
    "training on duplicates": (["train", "duplicate_ngram", "mamba"], "for evaluation only"),
    "an option and --set": (
        ["train", "mqar", "attention", "--lr", "1e-3", "--set", "train.lr=0.01"],
        "--set train.lr=0.01: an option gives it already, as 0.001; leave one out",
    ),
    "workers where one trains": (
        ["run", "demo", "--executor", "inline", "--workers", "4"],
        "--workers: --executor inline trains 1 at once (got 4)",
    ),
    "checkpoints at nan": (["train", "mqar", "attention", "--checkpoint-seconds", "nan"], "must be above 0 and finite"),
    "checkpoints before": (["run", "demo", "--checkpoint-seconds", "-4"], "must be above 0 and finite"),
    "figures in a file": (["run", "demo", "--out", "notes.txt/a/b"], "--out: notes.txt is not a directory"),
    "a figure of no width": (["run", "demo", "--width", "0"], "--width: must be from 1 to 40 inches (got 0)"),
    "a style in no text": (["run", "demo", "--style", "wild.mplstyle"], "'wild.mplstyle' is not written in UTF-8"),
    "a dry run as JSON": (["window", "mqar", "attention", "--dry-run", "--json"], "--json: a dry run has no results"),
    "a run of no store": (["show", "abc"], "no store at"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_exit_code_2_and_nothing_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, case: str
) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "bad.py").write_text("1 / 0\n")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "wild.mplstyle").write_bytes(b"\xff\xfe")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    words, expected = BAD[case]
    code, out, err = call(capsys, *words)
    assert code == 2
    assert out == ""
    assert expected in err
    assert err.startswith("recollect: ")
    assert err.count("\n") == 1
    assert {f: f.read_bytes() for f in tmp_path.iterdir() if f.is_file()} == before


def test_the_demo_runs_at_smoke_scale_and_draws_its_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = call(capsys, "run", "demo", "--scale", "smoke", "--out", "figures")
    assert code == 0
    assert "figure: figures/demo.png" in out
    assert all((tmp_path / "figures" / f"demo.{ending}").stat().st_size > 5000 for ending in ("png", "pdf", "svg"))
    assert "3 of them done before" in call(capsys, "run", "demo", "--scale", "smoke")[1]


def kill_and_repeat(kills: list[tuple[int, float]]) -> tuple[dict[str, Any], int]:
    """The same command, killed after so many lines and seconds, then run to its end; the result and the attempts."""
    sets = [*set_words(TINY | {"train.steps": 400, "train.eval_every": 10}), "--checkpoint-seconds", "0.01"]
    words = [sys.executable, "-m", "recollect", "train", "mqar", "attention", "--lr", "0.01", *sets]
    for lines, pause in kills:
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            for _ in range(lines):
                process.stderr.readline()
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    record = Store(Path("recollect.db")).record(found["id"])
    assert record is not None
    return {key: value for key, value in found.items() if key not in ("seconds", "provenance")}, record.attempt


@pytest.mark.parametrize("n_kills", [3, pytest.param(20, marks=pytest.mark.prove)])
def test_sigkill_at_any_moment_and_the_same_command_again_ends_identically(
    n_kills: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("killed", "undisturbed"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "undisturbed")
    expected, attempts = kill_and_repeat([])
    assert attempts == 1
    monkeypatch.chdir(tmp_path / "killed")
    rng = random.Random(n_kills)
    found, attempts = kill_and_repeat([(rng.randrange(1, 8), 0.1 * rng.random()) for _ in range(n_kills)])
    assert found == expected
    assert attempts > 1
