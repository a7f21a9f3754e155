"""Specs are complete, canonical, and refuse what cannot run."""

import math
from pathlib import Path
from typing import Annotated

import pytest

from recollect.errors import BadInput
from recollect.ops.forms import KERNELS, OPS
from recollect.spec import MIXERS, TASKS, ComputeSpec, RunSpec, TrainSpec
from recollect.spec.base import LATER, is_later
from recollect.spec.compose import flatten, make_spec, nest
from recollect.spec.model import ModelSpec
from recollect.spec.protocols import PROTOCOLS, Protocol

EXAMPLES = Path(__file__).parents[2] / "examples"
MINE, SUM = f"{EXAMPLES / 'my_mixer.py'}:GatedAverage", f"{EXAMPLES / 'my_task.py'}:Sum"


@pytest.mark.parametrize("mixer", MIXERS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_json_goes_both_ways_for_every_mixer_and_protocol(mixer: str, protocol: str) -> None:
    spec = make_spec("mqar", mixer, protocol=protocol)
    again = RunSpec.model_validate_json(spec.to_json())
    assert again == spec
    assert again.id == spec.id


def test_the_id_of_a_spec_is_frozen() -> None:
    assert make_spec("mqar", "attention", protocol="laptop-split").id == "7d6c6dcd8c4e"
    assert make_spec("mqar", "attention").id == "8de5f70fc3c3"


def test_a_cell_holds_runs_that_differ_in_learning_rate_and_seed_only() -> None:
    base = make_spec("mqar", "attention")
    other = make_spec("mqar", "attention", {"train.lr": 0.1, "seed": 1})
    assert base.cell == other.cell
    assert base.id != other.id
    assert base.cell != make_spec("mqar", "attention", {"model.d_model": 32}).cell


@pytest.mark.parametrize("task", sorted(set(TASKS) - {"duplicate_ngram"}))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_task_works_under_every_protocol(task: str, protocol: str) -> None:
    for mixer in ("attention", "mamba", "lstm"):
        spec = make_spec(task, mixer, protocol=protocol)
        assert RunSpec.model_validate_json(spec.to_json()).id == spec.id
        assert spec.task.short().lower().startswith(task)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda p: p.name)
def test_a_protocol_sets_every_field_that_did_not_come_later(protocol: Protocol) -> None:
    shorthand = {"train.steps": "train.epochs", "train.warmup_steps": "train.warmup"}
    parts = [
        ("model", ModelSpec),
        ("train", TrainSpec),
        ("compute", ComputeSpec),
        *(("task", k) for k in TASKS.values()),
    ]
    fields = {
        f"{part}.{name}" for part, kind in parts for name, field in kind.model_fields.items() if not is_later(field)
    }
    wanted = fields - {"task.name", "model.mixer"} | {"seed"}
    assert not {f for f in wanted if f not in protocol.fields and shorthand.get(f) not in protocol.fields}


class Grown(TrainSpec):
    """The training of a later version."""

    lr_invented: Annotated[float, LATER] = 1.0


class GrownRun(RunSpec):
    """A run of that version."""

    train: Grown


def grown(**fields: float) -> RunSpec:
    """One of them."""
    spec = make_spec("mqar", "attention")
    return GrownRun(**dict(spec) | {"train": Grown(**spec.train.model_dump(), **fields)})


def test_ids_and_cells_outlive_new_fields() -> None:
    spec = make_spec("mqar", "attention")
    assert (grown().id, grown(lr_invented=1.0).cell) == (spec.id, spec.cell)
    assert "lr_invented" in grown().to_json()
    changed = grown(lr_invented=0.1)
    assert changed.id != spec.id
    assert changed.cell != spec.cell
    assert changed.identity()["train"]["lr_invented"] == 0.1


def test_the_kind_of_device_counts_and_its_number_does_not() -> None:
    first, second, cpu = (
        make_spec("mqar", "mamba", {"compute.device": device, "compute.kernel": "torch"})
        for device in ("cuda", "cuda:1", "cpu")
    )
    assert (first.id, first.cell) == (second.id, second.cell)
    assert second.compute.device == "cuda:1"
    assert cpu.cell != first.cell


def test_a_device_is_asked_only_for_what_it_can() -> None:
    on_cuda = {"compute.device": "cuda", "compute.kernel": "torch"}
    plain = make_spec("mqar", "attention", on_cuda)
    for field, value in (("precision", "tf32"), ("compile", True), ("deterministic", True)):
        assert make_spec("mqar", "attention", {**on_cuda, f"compute.{field}": value}).id != plain.id
    with pytest.raises(BadInput, match=r"compute.precision: tf32 is a CUDA device's \(device cpu\); use fp32"):
        make_spec("mqar", "attention", {"compute.precision": "tf32"})
    with pytest.raises(BadInput, match=r"compute.compile: cannot see into kernels of numba; use compute.kernel=torch"):
        make_spec("mqar", "attention", {"compute.compile": True})


def test_a_kernel_without_a_form_of_an_op_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPS, "delta", OPS["delta"] | {"toy": "torch"})
    monkeypatch.setattr("recollect.spec.compute.KERNELS", (*KERNELS, "toy"))
    with pytest.raises(BadInput, match=r"compute.kernel: toy has no form of softmax; allowed: numba, torch, loop"):
        make_spec("mqar", "attention", {"compute.kernel": "toy"})
    with pytest.raises(BadInput, match=r"spec: compute.kernel: toy has no form of causal_conv"):
        make_spec("mqar", "deltanet", {"compute.kernel": "toy"})
    with pytest.raises(BadInput, match=r"compute.kernel: unknown name 'numbo'; did you mean 'numba'"):
        make_spec("mqar", "deltanet", {"compute.kernel": "numbo"})


def test_a_library_serves_its_ops_on_cuda_only_and_nobody_else() -> None:
    def on_cuda(kernel: str, mixer: str, **fields: object) -> RunSpec:
        given = {f"compute.{name}": value for name, value in fields.items()}
        return make_spec("mqar", mixer, {"compute.device": "cuda:1", "compute.kernel": kernel, **given})

    assert on_cuda("mamba_ssm", "mamba").forms() == {
        "causal_conv": "causal_conv_mamba_ssm",
        "softplus_linear": "softplus_linear_torch",
        "selective_scan": "selective_scan_mamba_ssm",
        "gate": "gate_torch",
        "rms_norm": "rms_norm_torch",
        "answer_loss": "answer_loss_torch",
    }
    assert on_cuda("fla", "mamba2").forms()["ssd"] == "ssd_fla"
    for device in ("cpu", "mps"):
        with pytest.raises(BadInput, match=rf"compute.kernel: fla runs on a CUDA device only \(device {device}\); use"):
            on_cuda("fla", "kda", device=device)
    for kernel, mixer, op in (("fla", "mamba", "softplus_linear"), ("mamba_ssm", "deltanet", "delta")):
        with pytest.raises(BadInput, match=rf"compute.kernel: {kernel} has no form of {op}; allowed: numba, torch"):
            on_cuda(kernel, mixer)
    with pytest.raises(BadInput, match=r"compute.kernel: fla has no op of .*my_mixer.py:GatedAverage; use torch"):
        on_cuda("fla", MINE)
    for asked, sentence in {
        "compile": "cannot see into kernels of fla; use compute.kernel=torch",
        "deterministic": "fla does not promise it; use compute.kernel=torch",
    }.items():
        with pytest.raises(BadInput, match=f"compute.{asked}: {sentence}"):
            on_cuda("fla", "gla", **{asked: True})


def test_a_spec_says_which_form_of_every_op_runs() -> None:
    hyena = make_spec("mqar", "hyena", protocol="paper").forms()
    assert hyena == {
        "causal_conv": "causal_conv_numba",
        "long_conv": "long_conv_torch",
        "bias_gelu": "bias_gelu_numba",
        "answer_loss": "answer_loss_numba",
    }
    bare = make_spec("mqar", "mamba", {"model.mixer.d_conv": 0, "model.block": "mixer", "compute.kernel": "torch"})
    ops = ("softplus_linear", "selective_scan", "gate", "answer_loss")
    assert bare.forms() == {op: f"{op}_torch" for op in ops}


def test_a_resolved_spec_hides_no_size() -> None:
    for mixer in MIXERS:
        options = make_spec("mqar", mixer).model.mixers[0]
        assert None not in options.model_dump().values(), mixer


def test_the_paper_protocol_is_the_paper() -> None:
    spec = make_spec("mqar", "attention", {"task.length": 512, "task.n_pairs": 64}, protocol="paper")
    assert (spec.task.vocab_size, spec.task.rows, spec.task.test_rows) == (8192, 100_000, 3000)
    assert spec.train.batch_size == 128
    assert spec.train.steps == 50 * 782
    assert spec.train.warmup_steps == spec.train.steps // 10
    assert spec.model.positions == "learned"
    assert make_spec("mqar", "mamba", protocol="paper").model.block == "mamba"
    assert make_spec("mqar", "hyena", protocol="paper").model.positions == "none"
    assert make_spec("mqar", "based", protocol="paper").model.positions == "learned"


def test_the_jelassi_protocol_is_that_of_its_paper() -> None:
    spec = make_spec("copy", "attention", protocol="jelassi")
    task, model, train = spec.task, spec.model, spec.train
    assert (task.n_letters, task.min_length, task.max_length, task.context, task.rows) == (26, 5, 20, 220, "fresh")
    assert (model.n_layers, model.d_model, model.block, model.mlp_expansion) == (12, 1024, "mixer+mlp", 4)
    assert (model.mixers[0].n_heads, model.mixers[0].positions, model.positions) == (16, "rope", "none")
    assert (train.lr, train.steps, train.batch_size, train.warmup_steps) == (1e-5, 2000, 8, 100)
    assert (train.schedule, train.clip, train.weight_decay) == ("linear", 1.0, 0.1)
    mamba = make_spec("copy", "mamba", protocol="jelassi").model
    assert (mamba.mixers[0].d_state, mamba.block) == (32, "mamba")
    assert make_spec("copy", "lstm", protocol="jelassi").model.block == "mixer"


def test_an_exception_may_hold_for_some_tasks_only() -> None:
    assert make_spec("mqar", "attention").model.positions == "learned"
    copying = make_spec("copy", "attention").model
    assert (copying.positions, copying.mixers[0].positions) == ("none", "rope")
    assert make_spec("copy", "mamba").model.mixers[0].positions == "none"


def test_a_share_of_warm_up_replaces_the_protocols_steps() -> None:
    assert make_spec("copy", "lstm", {"train.warmup": 0.2}, protocol="jelassi").train.warmup_steps == 400
    assert make_spec("copy", "lstm", {"train.warmup_steps": 7}).train.warmup_steps == 7


def test_a_hybrid_gets_the_block_of_each_of_its_mixers() -> None:
    spec = make_spec("mqar", ["attention", "mamba"], protocol="paper")
    assert spec.model.blocks == ("mixer+mlp", "mamba")
    assert spec.model.n_layers == 2


def test_the_users_word_beats_the_protocol() -> None:
    spec = make_spec("mqar", "mamba", {"model.block": "mixer+mlp", "train.steps": 7}, protocol="paper")
    assert spec.model.block == "mixer+mlp"
    assert spec.train.steps == 7


def test_flat_and_nested_fields_are_the_same() -> None:
    plain = {"task": {"length": 64}, "seed": 1}
    assert nest(flatten(plain)) == plain


BAD = {
    "an unknown key": ({"task.lenght": 64}, "did you mean 'task.length'"),
    "an odd length": ({"task.length": 33}, "even (got 33)"),
    "too many pairs": ({"task.n_pairs": 9}, "4 * n_pairs"),
    "a zero learning rate": ({"train.lr": 0}, "greater than 0"),
    "a learning rate that is no number": ({"train.lr": float("nan")}, "finite"),
    "heads that do not divide": ({"model.mixer.n_heads": 3}, "must divide 64 (got 3)"),
    "a small vocabulary": ({"task.vocab_size": 32}, "vocab_size must exceed length 32"),
    "epochs of fresh data": ({"train.epochs": 2}, "fixed training set"),
    "a warm-up above 1": ({"train.warmup": 2}, "share of the steps"),
    "hard ALiBi with one head": ({"model.mixer.positions": "hard_alibi"}, "hard_alibi needs n_heads >= 2 (got 1)"),
    "no end to clipping": ({"train.clip": "inf"}, "train.clip: a finite number above 0, or null, which clips nothing"),
    "an infinite decay": ({"train.weight_decay": float("inf")}, "train.weight_decay: input should be a finite number"),
    "an infinite eps": ({"train.eps": "1e400"}, "train.eps: input should be a finite number"),
    "an unknown option": ({"model.mixer.cnov": "k"}, "did you mean 'model.mixer.conv'"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_gets_one_sentence(case: str) -> None:
    fields, expected = BAD[case]
    with pytest.raises(BadInput) as caught:
        make_spec("mqar", "attention", fields)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mixer", [*MIXERS, MINE])
def test_no_field_is_infinite(mixer: str) -> None:
    own = {"model.mixer.decay": 0.5} if mixer == MINE else {}
    fields = flatten(make_spec("mqar", mixer, own).model_dump(mode="json"))
    for field in (field for field, value in fields.items() if isinstance(value, float)):
        for bad in (math.inf, math.nan, [math.inf]):
            with pytest.raises(BadInput, match=r"^[^\n]+$"):
                make_spec("mqar", mixer, {field: bad})


def test_a_field_is_given_once() -> None:
    with pytest.raises(BadInput, match=r"^spec: train.lr is given twice, be it dotted, nested or short; give it once$"):
        flatten({"train.lr": 1e-3, "train": {"lr": 1e-2}})
    for given in ({"task.rows.x": 3}, {"task.a": 1, "task.a.b": 2}, {"task.a.b": 2, "task.a": 1}):
        with pytest.raises(BadInput, match=r"^spec: task\.(rows\.x|a|a\.b): one field is given a value and fields of"):
            make_spec(SUM, "attention", given)


@pytest.mark.parametrize("pin", ["name", "path", "source", "whole"])
def test_what_says_which_code_runs_is_no_argument_of_it(pin: str) -> None:
    for mixer in (MINE, f"{EXAMPLES / 'my_model.py'}:build"):
        with pytest.raises(BadInput, match=f"'{pin}' cannot be set, it says which code runs"):
            make_spec("mqar", mixer, {f"model.mixer.{pin}": "foo"})
    with pytest.raises(BadInput, match="'source' cannot be set, it says which code runs"):
        make_spec(SUM, "attention", {"task.source": "sha256 0"})


def test_a_task_that_ends_the_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(
        "class Ends:\n    def __init__(self): raise SystemExit(0)\n    def draw(self): ...\n"
    )
    with pytest.raises(BadInput, match=r"task ends.py:Ends: Ends\(\) raised SystemExit: 0"):
        make_spec(f"{tmp_path / 'ends.py'}:Ends", "attention")


def test_a_yaml_number_with_an_exponent_is_read_as_one() -> None:
    assert make_spec("mqar", "attention", {"train.lr": "1e-3"}).train.lr == 1e-3
