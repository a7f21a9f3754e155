"""What users bring: every example keeps its contract and trains, and what breaks it is one sentence."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import recollect
from recollect.cli import main
from recollect.errors import BadInput
from recollect.spec import make_spec
from recollect.spec.names import WHOLE
from recollect.store import Store
from recollect.studies import STUDIES, Changes
from recollect.tasks import Supply, build_task, make_task
from recollect.tasks.check import check_task
from recollect.training.check import check_model, preflight
from recollect.training.execute import initial_model
from recollect.training.feed import place
from recollect.training.trainer import loss_at
from tests.cli.test_cli import call
from tests.support.places import ROOT
from tests.support.small import TINY

EXAMPLES = sorted((ROOT / "examples").glob("my_*.py"))
COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for file in EXAMPLES
    for line in re.findall(r"^recollect .*", file.read_text(), re.MULTILINE)
]
SMALL = ["--steps", "2", "--set", "task.validation_rows=8", "--set", "task.test_rows=8", "--d-model", "16"]
QUICK = {"train": SMALL, "window": [*SMALL, "--executor", "inline", "--max-runs", "1"], "check": ["--length", "12"]}
Capsys = pytest.CaptureFixture[str]

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def test_there_is_an_example_of_everything_that_can_be_brought() -> None:
    assert {file.name for file in EXAMPLES} == {
        *("my_mixer.py", "my_gru.py", "my_layer.py", "my_model.py", "my_llama.py", "my_task.py")
    }


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_of_every_example_works(words: list[str]) -> None:
    if "my_layer" in " ".join(words) or "my_llama" in " ".join(words):
        pytest.importorskip("transformers", reason="transformers is not installed: pip install transformers")
    with pytest.raises(SystemExit) as end:
        main([*words, *QUICK[words[0]]])
    assert end.value.code == 0


MODEL = """
from torch import nn
class Net(nn.Module):
    def __init__(self, vocab_size, d_model=8, logits=True, ahead=False):
        super().__init__()
        self.embed, self.mix = nn.Embedding(vocab_size, d_model), nn.GRU(d_model, d_model, batch_first=True)
        self.ahead, self.head = ahead, nn.Linear(d_model, vocab_size) if logits else nn.Identity()
    def forward(self, tokens):
        x = self.embed(tokens)
        return self.head(self.mix(x.flip(1) if self.ahead else x)[0])
def build(vocab_size, **options):
    return Net(vocab_size, **options)
def nothing():
    return 3
"""


def model_spec(name: str = "net.py:build", **fields: Any) -> recollect.RunSpec:
    Path("net.py").write_text(MODEL)
    own = {f"model.mixer.{key}": value for key, value in fields.items()}
    return make_spec("mqar", name, {key: value for key, value in TINY.items() if "block" not in key} | own)


@pytest.mark.parametrize("logits", [True, False])
def test_a_whole_model_is_judged_by_its_logits_or_by_a_head_of_ours(logits: bool) -> None:
    spec = model_spec(logits=logits)
    model = initial_model(spec)
    rows = place(Supply(make_task(spec.task), 1, 5).batch(0), model.device)
    loss, right = loss_at(model, rows, spec)
    asked = torch.stack([model(rows.tokens)[row, at] for row, at in enumerate(rows.at)])  # (B, Q, V)
    expected = nn.functional.cross_entropy(asked.flatten(0, 1), rows.target.flatten(), ignore_index=-100)
    torch.testing.assert_close(loss, expected)
    assert torch.equal(right, asked.argmax(dim=-1) == rows.target)
    assert (model.head_weight is None) == logits
    assert (model.state_size(), spec.model.mixer_name) == (None, "net.py:build")


def test_a_whole_model_trains_is_stored_and_comes_back(tmp_path: Path) -> None:
    spec = model_spec()
    record = recollect.run(spec, tmp_path / "a.db")
    assert (record.status, record.result["state_size"]) == ("done", None)  # type: ignore[index]
    assert Store(tmp_path / "a.db").record(spec.id).spec == spec  # type: ignore[union-attr]
    model = recollect.load(record.id, tmp_path / "a.db").model
    assert model.n_params() == record.result["n_params"]  # type: ignore[index]
    (tmp_path / "net.py").write_text("changed")
    with pytest.raises(BadInput, match="trust=True"):
        recollect.load(record.id, tmp_path / "a.db")
    assert recollect.load(record.id, tmp_path / "a.db", trust=True).model.n_params() == model.n_params()


def test_a_class_is_a_whole_model_where_it_is_said() -> None:
    spec = model_spec(f"{WHOLE}net.py:Net", logits=False)
    assert all(clause.holds for clause in check_model(spec))
    assert spec.id != model_spec(logits=False).id


def test_the_backbone_is_no_part_of_a_whole_model() -> None:
    assert "block" not in str(model_spec().identity()["model"]["mixer"])
    others = [make_spec("mqar", "net.py:build", protocol=protocol).model for protocol in ("laptop", "zoology", "paper")]
    assert others[0] == others[1] == others[2]
    for field, value in (("model.block", "mixer"), ("model.positions", "learned"), ("model.init", "gpt2")):
        with pytest.raises(BadInput, match="is the backbone's"):
            make_spec("mqar", "net.py:build", {field: value})


MINE = "examples/my_mixer.py:GatedAverage"


def test_a_mixer_of_a_user_gets_the_exceptions_of_the_one_that_it_is_like() -> None:
    plain = make_spec("mqar", MINE)
    assert (plain.model.positions, plain.model.block) == ("none", "mixer")
    assert make_spec("mqar", MINE, like="attention").model.positions == "learned"
    assert make_spec("mqar", MINE, like="mamba").model.block == "mamba"
    assert make_spec("mqar", MINE, like="deltanet") == plain
    assert make_spec("mqar", MINE, {"model.positions": "none"}, like="attention") == plain
    assert make_spec("mqar", MINE, like="attention", protocol="jelassi") == make_spec("mqar", MINE, protocol="jelassi")
    hybrid = make_spec("mqar", ["deltanet", MINE], like="mamba").model
    assert (hybrid.blocks, hybrid.positions) == (("mixer", "mamba"), "none")


def test_the_choice_is_told_and_so_is_what_could_be_chosen(capsys: Capsys) -> None:
    err = call(capsys, "train", "mqar", MINE, *SMALL)[2]
    told = " ".join(err.split())
    assert "without the exceptions that the protocol laptop makes (attention and sliding_attention: positions" in told
    assert "mamba and mamba2: block mamba); --like attention would give yours the same" in told
    assert max(map(len, err.splitlines())) <= 120
    assert (
        f"{MINE}: trained like mamba: block mamba" in call(capsys, "train", "mqar", MINE, "--like", "mamba", *SMALL)[2]
    )
    assert "--like" not in call(capsys, "train", "mqar", "lstm", *SMALL)[2]


BAD_LIKES = {
    "nothing of the user's": (["train", "mqar", "attention", "--like", "mamba"], "is for a mixer of yours"),
    "a whole model": (["train", "mqar", "--model", "examples/my_model.py:build", "--like", "mamba"], "mixer of yours"),
    "no mixer": (["train", "mqar", MINE, "--like", "mmaba"], "did you mean 'mamba'"),
    "a study alone": (["run", "fig7", "--like", "mamba", "--dry-run"], "is for a mixer of yours"),
    "a search": (["window", "mqar", "lstm", "--like", "mamba", "--dry-run"], "is for a mixer of yours"),
}


@pytest.mark.parametrize("case", BAD_LIKES)
def test_like_without_a_mixer_of_ones_own_is_refused(case: str, capsys: Capsys) -> None:
    words, expected = BAD_LIKES[case]
    code, _, err = call(capsys, *words)
    assert code == 2
    assert expected in err


def test_a_mixer_joins_all_models_of_a_study_and_their_runs_are_the_study_s() -> None:
    study = STUDIES["fig7"]
    alone = {case.spec.id for case in study.cases("smoke")}
    joined = study.cases("smoke", Changes(mixers=(f"+{MINE}",), like="mamba"))
    new = [case for case in joined if case.spec.id not in alone]
    assert alone < {case.spec.id for case in joined}
    assert {(case.label, case.spec.model.block) for case in new} == {(MINE, "mamba")}
    assert {case.label for case in study.cases("smoke", Changes(mixers=(MINE,)))} == {MINE}


BAD_MODELS = {
    "no module": ("net.py:nothing", {}, "must return an nn.Module"),
    "an option that it does not know": ("net.py:build", {"wide": 3}, "raised TypeError"),
    "one that looks ahead": ("net.py:build", {"ahead": True}, "it looks ahead"),
    "nothing of that name": (f"{WHOLE}net.py:biuld", {}, "did you mean 'build'"),
}


@pytest.mark.parametrize("case", BAD_MODELS)
def test_a_model_that_breaks_the_contract_is_refused(case: str) -> None:
    name, options, expected = BAD_MODELS[case]
    with pytest.raises(BadInput, match=expected):
        preflight(model_spec(name, **options))


TASK = """
import numpy as np
class Task:
    def __init__(self, kind="good", length=6, vocab_size=9):
        self.kind, self.length, self.vocab_size = kind, length, vocab_size
        if kind == "no size":
            self.length = None
    def draw(self, rng, rows):
        if self.kind == "wild floors":
            self.floors = {"guess": float("nan")}
        if self.kind == "floors that are none":
            self.floors = 0.5
        if self.kind == "wild plateaus":
            self.plateaus = {"guess": "high"}
        if self.kind == "few rows only" and rows > 100:
            raise ValueError("too many")
        rng = np.random.default_rng() if self.kind == "own randomness" else rng
        tokens = rng.integers(self.vocab_size + (self.kind == "strange tokens"), size=(rows, self.length))
        at = np.full((rows, 1), self.length - (self.kind != "outside"))
        if self.kind == "no batch":
            return tokens
        if self.kind == "fractions":
            tokens = tokens / 2
        if self.kind == "constant":
            tokens[:, :1] = 1
        return tokens, at, tokens[:, :1] if self.kind != "nothing asked" else np.full((rows, 1), -100)
"""


def task_spec(**fields: Any) -> recollect.RunSpec:
    Path("task.py").write_text(TASK)
    small = {key: value for key, value in TINY.items() if not key.startswith("task.") or "rows" in key}
    return make_spec("task.py:Task", "lstm", small | {f"task.{key}": value for key, value in fields.items()})


def test_a_task_of_a_user_trains_and_its_sizes_are_in_the_spec(tmp_path: Path) -> None:
    spec = task_spec(length=8)
    assert (spec.task.length, spec.task.vocab_size) == (8, 9)
    assert spec.task.short() == "task.py:Task V=9 L=8"
    assert spec.id not in (task_spec().id, task_spec(length=8, kind="x").id)
    assert all(clause.holds for clause in check_task(make_task(spec.task)))
    table = recollect.run_many([spec], tmp_path / "a.db", workers=1)
    assert (table["status"][0], table["floors.1/V"][0]) == ("done", 1 / 9)
    assert build_task("task.py:Task", length=4).length == 4


def test_a_stored_task_of_a_user_is_read_without_running_its_code(tmp_path: Path, capsys: Capsys) -> None:
    spec = task_spec()
    recollect.run(spec, tmp_path / "recollect.db")
    (tmp_path / "task.py").write_text("raise SystemExit('this must not run')")
    assert Store(tmp_path / "recollect.db").records()[0].spec == spec
    assert call(capsys, "report", "--format", "html", "csv")[0] == 0
    assert "task.py:Task" in call(capsys, "list", "runs")[1]


BAD_TASKS = {
    "own randomness": "two draws differ",
    "strange tokens": "tokens 0 to 9",
    "outside": "positions 6 to 6",
    "no batch": "draw must return",
    "fractions": "must be whole numbers",
    "nothing asked": "a row asks nothing",
    "wild floors": "floors must be finite numbers",
    "floors that are none": "floors raised AttributeError",
    "wild plateaus": "plateaus raised ValueError",
    "few rows only": "it raised ValueError: too many",
}


@pytest.mark.parametrize("kind", BAD_TASKS)
def test_a_task_that_breaks_the_contract_is_refused(kind: str, capsys: Capsys) -> None:
    with pytest.raises(BadInput, match=BAD_TASKS[kind]):
        preflight(task_spec(kind=kind))
    code, out, _ = call(capsys, "check", "task.py:Task", "--set", f"task.kind={kind}")
    assert code == 1
    assert "BROKEN" in out


def test_floors_that_a_constant_answer_beats_are_told(capsys: Capsys) -> None:
    task_spec()
    code, out, _ = call(capsys, "check", "task.py:Task", "--set", "task.kind=constant")
    assert code == 1
    assert "the most frequent answer is right in 100.0%; floors: 1/V 11.1%" in " ".join(out.split())


BAD_NAMES = {
    "no size": ("task.py:Task", {"task.kind": "no size"}, "needs a whole number `length`"),
    "no class": ("task.py:Tusk", {}, "a class 'Tusk' with a method draw"),
    "no name": ("task.py", {}, "add `:Task`"),
    "no file": ("none.py:Task", {}, "no file 'none.py'"),
    "no such option": ("task.py:Task", {"task.n_pairs": 3}, "raised TypeError"),
}


@pytest.mark.parametrize("case", BAD_NAMES)
def test_a_task_that_cannot_be_made_is_one_sentence(case: str) -> None:
    task_spec()
    name, fields, expected = BAD_NAMES[case]
    with pytest.raises(BadInput, match=expected):
        make_spec(name, "lstm", fields)
