"""Sweep files: a small grammar, and one sentence for every mistake."""

from pathlib import Path

import pytest

from recollect.errors import BadInput
from recollect.spec.compose import make_spec
from recollect.spec.rates import on_lattice
from recollect.sweep.files import read_sweep
from recollect.sweep.named import Sweep
from tests.support.places import TROUBLE


def read(folder: Path, text: str, name: str = "sweep.yaml") -> Sweep:
    """A file with this text, read."""
    (folder / name).write_text(text)
    return read_sweep(folder / name)


def test_lists_are_a_grid_whose_first_field_varies_slowest(tmp_path: Path) -> None:
    found = read(tmp_path, "task: mqar\nmixer: [attention, mamba]\nmodel.d_model: [16, 32]\nseed: [1, 2]\n")
    assert found.name == "sweep"
    cases = [(case.label, case.spec.seed) for case in found.cases]
    labels = [f"{mixer}, d_model {d}" for mixer in ("attention", "mamba") for d in (16, 32)]
    assert cases == [(label, seed) for label in labels for seed in (1, 2)]


def test_learning_rates_of_a_range_lie_on_the_lattice(tmp_path: Path) -> None:
    found = read(tmp_path, "task: mqar\nmixer: attention\nlr: {log: [1e-4, 1e-1], n: 9}\n")
    rates = [case.spec.train.lr for case in found.cases]
    assert (len(rates), rates[0], rates[-1]) == (9, 1e-4, 0.1)
    assert rates[4] == on_lattice(-2.5)
    assert {case.label for case in found.cases} == {"attention"}
    whole = read(tmp_path, "task: mqar\nmixer: attention\nmodel.d_model: {log: [16, 128], n: 4}\n")
    assert [case.spec.model.d_model for case in whole.cases] == [16, 32, 64, 128]


def test_fields_may_be_nested_dotted_or_short_and_a_mixer_may_bring_its_own(tmp_path: Path) -> None:
    text = """
name: mine
protocol: paper
task: {name: [mqar, ar], length: 32, vocab_size: 64}
mixer:
  - {name: attention, conv: [k, qkv], n_heads: 2}
  - mamba
  - attention,mamba
train: {steps: 7}
n_layers: 2
compute.kernel: torch
"""
    found = read(tmp_path, text)
    assert found.name == "mine"
    labels = [case.label for case in found.cases if case.spec.task.name == "ar"]
    attention = ["attention, task ar, conv k", "attention, task ar, conv qkv"]
    assert labels == [*attention, "mamba, task ar", "attention+mamba, task ar"]
    spec = found.cases[0].spec
    assert (spec.train.steps, spec.train.batch_size, spec.compute.kernel) == (7, 512, "torch")
    assert spec.model.mixers[0].model_dump()["n_heads"] == 2


def test_a_list_inside_a_list_is_a_value(tmp_path: Path) -> None:
    text = "task: mqar\nmixer: attention\nmodel: {n_layers: 2, block: [mixer, [mixer, mixer+mlp]]}\n"
    assert [case.spec.model.blocks for case in read(tmp_path, text).cases] == [
        ("mixer", "mixer"),
        ("mixer", "mixer+mlp"),
    ]


def test_a_users_mixer_lies_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(TROUBLE.read_text())
    monkeypatch.chdir("/")
    found = read(tmp_path, "task: mqar\nmixer: {name: mine.py:Trouble, seconds: 0.1}\n")
    assert found.cases[0].label == "mine.py:Trouble"


def test_mixers_of_users_may_be_like_one_of_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TROUBLE.read_text())
    mine, text = f"{tmp_path}/mine.py:Trouble", "task: mqar\nmixer: [mine.py:Trouble, mamba]\n"
    plain, like = read(tmp_path, text), read(tmp_path, f"{text}like: attention\n")
    assert [case.spec.model.positions for case in plain.cases] == ["none", "none"]
    assert [case.spec.model.positions for case in like.cases] == ["learned", "none"]
    assert like.cases[0].spec == make_spec("mqar", mine, like="attention")
    assert like.choice == f"{mine}: trained like attention: positions learned"
    assert plain.choice.startswith(f"{mine}: trained without the exceptions that the protocol laptop makes")
    assert "like: attention would give yours the same" in plain.choice
    assert read(tmp_path, "task: mqar\nmixer: mamba\n").choice == ""


BAD = {
    "like nobody": ("task: mqar\nmixer: mamba\nlike: mmaba\n", "like: unknown name 'mmaba'; did you mean 'mamba'?"),
    "like, of ours": ("task: mqar\nmixer: lstm\nlike: mamba\n", "like: mamba is for a mixer of yours"),
    "an unknown key": ("task: mqar\nmixers: attention\n", "unknown name 'mixers'; did you mean 'mixer'?"),
    "an unknown field": ("task: mqar\nmixer: attention\ntrain: {stesp: 3}\n", "did you mean 'train.steps'?"),
    "an unknown task": ("task: mqra\nmixer: attention\n", "did you mean 'mqar'?"),
    "an unknown mixer": ("task: mqar\nmixer: [attention, mmaba]\n", "did you mean 'mamba'?"),
    "an unknown protocol": ("task: mqar\nmixer: mamba\nprotocol: papre\n", "did you mean 'paper'?"),
    "no mixer": ("task: mqar\n", "no mixer is named"),
    "no task": ("mixer: mamba\n", "no task is named"),
    "an option of another mixer": ("task: mqar\nmixer: {name: mamba, conv: k}\n", "unknown name 'model.mixer.conv'"),
    "a mixer without a name": ("task: mqar\nmixer: {conv: k}\n", "has no 'name'"),
    "a range upside down": ("task: mqar\nmixer: mamba\nlr: {log: [1, 0.1], n: 3}\n", "with 0 < low <= high"),
    "a range without a count": ("task: mqar\nmixer: mamba\nlr: {log: [1, 10]}\n", "write {log: [low, high], n: count}"),
    "a range from zero": ("task: mqar\nmixer: mamba\nlr: {log: [0, 1], n: 3}\n", "with 0 < low <= high"),
    "a range without end": ("task: mqar\nmixer: mamba\nlr: {log: [1, 2], n: 1000000000}\n", "0 < n <= 100,000"),
    "half a value of a range": ("task: mqar\nmixer: mamba\nlr: {log: [1, 2], n: 2.5}\n", "0 < n <= 100,000"),
    "a mapping in itself": ("task: mqar\nmixer: mamba\ntrain: &a {b: *a}\n", "no YAML (found unconstructable"),
    "a list too deep": (f"task: {'[' * 2000}\n", "no YAML ("),
    "a range too fine": ("task: mqar\nmixer: mamba\nlr: {log: [1e-3, 1e-2], n: 50}\n", "closer than 1/40 decade"),
    "a value that does not fit": ("task: mqar\nmixer: mamba\nlr: [0.1, -1]\n", "greater than 0 (got -1)"),
    "no seeds": ("task: mqar\nmixer: mamba\nseed: []\n", "seed: the list is empty; give one value or several"),
    "no rates": ("task: mqar\nmixer: mamba\ntrain: {lr: []}\n", "train.lr: the list is empty"),
    "no protocols": ("task: mqar\nmixer: mamba\nprotocol: []\n", "protocol: the list is empty"),
    "no states": ("task: mqar\nmixer: {name: mamba, d_state: []}\n", "d_state: the list is empty"),
    "a rate short and dotted": ("task: mqar\nmixer: mamba\nlr: 1e-3\ntrain.lr: 1e-2\n", "train.lr is given twice"),
    "a rate dotted and nested": (
        "task: mqar\nmixer: mamba\ntrain: {lr: 1e-3}\ntrain.lr: {log: [1e-3, 1e-2], n: 2}\n",
        "train.lr is given twice, be it dotted, nested or short; give it once",
    ),
    "a task short and dotted": ("task: mqar\ntask.name: ar\nmixer: mamba\n", "task.name is given twice"),
    "a number for a name": ("task: mqar\nmixer: mamba\ntrain: {1: 2}\n", "unknown name 'train.1'"),
    "a range without an end": ("task: mqar\nmixer: mamba\nlr: {log: [1.e-4, .inf], n: 3}\n", "low <= high (finite)"),
    "a study's name": ("name: fig1\ntask: mqar\nmixer: mamba\n", "its name 'fig1' is a study's"),
    "no mapping": ("- a\n- b\n", "a mapping is needed"),
    "no YAML": ("task: [mqar\n", "no YAML"),
    "no such file of the user's": ("task: mqar\nmixer: mine.py:Mixer\n", "no file"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_sentence_that_begins_with_the_file(tmp_path: Path, case: str) -> None:
    text, expected = BAD[case]
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text)
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "sweep.yaml"))
    assert "\n" not in str(caught.value)


SPECS = """from recollect import make_spec

def specs():
    return [make_spec("mqar", "mamba", {"seed": seed}) for seed in (1, 2)]
"""
CASES = """from recollect import make_spec
from recollect.studies import Case

def cases(scale):
    return [Case(scale, make_spec("mqar", "mamba"))]
"""


def test_a_python_file_returns_specs_or_cases(tmp_path: Path) -> None:
    found = read(tmp_path, SPECS, "my_study.py")
    assert (found.name, found.scale) == ("my_study", "")
    assert [(case.label, case.spec.seed) for case in found.cases] == [("mamba", 1), ("mamba", 2)]
    (tmp_path / "sized.py").write_text(CASES)
    assert [read_sweep(tmp_path / "sized.py", scale).cases[0].label for scale in (None, "smoke")] == ["laptop", "smoke"]


BAD_PYTHON = {
    "no function": ("x = 1\n", "no function specs() or cases()"),
    "raises on import": ("1 / 0\n", "importing it raised ZeroDivisionError"),
    "raises in the function": ("def specs(): return [1 / 0]\n", "specs() raised ZeroDivisionError"),
    "ends the program": ("import sys\ndef specs(): sys.exit(0)\n", "specs() raised SystemExit: 0"),
    "a bad field": ("from recollect import make_spec\ndef specs(): return [make_spec('mqar', 'mmaba')]\n", "'mamba'?"),
    "no specs": ("def specs(): return [{}]\n", "must return RunSpecs (item 0 is of type dict)"),
    "nothing": ("def specs(): return []\n", "returned no runs"),
}


@pytest.mark.parametrize("case", BAD_PYTHON)
def test_a_bad_python_file_is_one_sentence(tmp_path: Path, case: str) -> None:
    text, expected = BAD_PYTHON[case]
    with pytest.raises(BadInput) as caught:
        read(tmp_path, text, "my_study.py")
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "my_study.py"))


def test_a_scale_that_nobody_asks_for_is_refused(tmp_path: Path) -> None:
    read(tmp_path, SPECS, "my_study.py")
    read(tmp_path, "task: mqar\nmixer: mamba\n")
    for name, expected in (("my_study.py", "takes no scale"), ("sweep.yaml", "has one size")):
        with pytest.raises(BadInput, match=expected):
            read_sweep(tmp_path / name, "paper")
