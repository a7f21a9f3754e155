"""The command on the page gives the same run."""

import shlex
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.options import read_sets
from recollect.report.command import command
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from tests.support.small import tiny

MINE = "import torch\n\n\nclass Mine(torch.nn.Module):\n    pass\n"


def parsed(words: list[str]) -> RunSpec:
    """As `recollect train` reads its words."""
    program, verb, task, mixer, *rest = words
    assert (program, verb) == ("recollect", "train")
    fields: dict[str, Any] = {}
    protocol, sets = "laptop", []
    names = {"--lr": "train.lr", "--seed": "seed", "--d-model": "model.d_model", "--n-layers": "model.n_layers"}
    for option, value in zip(rest[::2], rest[1::2], strict=True):
        if option == "--protocol":
            protocol = value
        elif option == "--set":
            sets.append(value)
        else:
            fields[{**names, "--steps": "train.steps"}[option]] = float(value) if option == "--lr" else int(value)
    mixers = mixer.split(",") if "," in mixer else mixer
    return make_spec(task, mixers, fields | read_sets(tuple(sets)), protocol=protocol)


SPECS = {
    "plain": make_spec("mqar", "attention", {"train.lr": 2e-3}),
    "tiny": tiny("mamba", train__warmup_steps=3, train__eps=1e-5, train__lr=3.3e-5),
    "paper": make_spec("mqar", "mamba2", {"model.d_model": 128, "task.length": 256}, protocol="paper"),
    "zoology": make_spec("mqar", "attention", {"seed": 7}, protocol="zoology"),
    "hybrid": tiny(["attention", "mamba"], model__mixer__d_state=4),
    "null": make_spec("ar", "hyena", {"compute.kernel": "torch", "train.clip": None, "task.rows": 1000}),
}


@pytest.mark.parametrize("name", SPECS)
def test_the_command_has_the_id_of_its_run(name: str) -> None:
    words = shlex.split(command(SPECS[name]))
    assert parsed(words).id == SPECS[name].id


def test_a_default_run_has_a_short_command() -> None:
    assert command(SPECS["plain"]) == "recollect train mqar attention --lr 0.002 --seed 42"
    assert command(SPECS["zoology"]) == "recollect train mqar attention --protocol zoology --lr 0.001 --seed 7"


def test_a_users_file_is_named_with_its_place_and_numbers_stay_numbers(tmp_path: Path) -> None:
    file = tmp_path / "my mixer.py"
    file.write_text(MINE)
    spec = make_spec("mqar", f"{file}:Mine", {"model.mixer.decay": 1e-5, "model.mixer.kind": "0.5"})
    assert parsed(shlex.split(command(spec))) == spec


def test_what_no_command_can_tell_is_told_in_python(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    gone = make_spec("mqar", f"{file}:Mine")
    plain = tiny(["mamba", "mamba"]).model_dump(mode="json")
    plain["model"]["mixer"][0]["d_conv"] = 2
    uneven = RunSpec.model_validate(plain)
    file.unlink()
    for spec in (gone, uneven):
        program, flag, code = shlex.split(command(spec))
        assert (program, flag) == ("python", "-c")
        before, expression = code.split("; ", 1)
        assert before == "from recollect import RunSpec, run"
        made = eval(expression, {"RunSpec": RunSpec, "run": lambda spec, store: spec})
        assert made.id == spec.id
