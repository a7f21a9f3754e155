"""What a spec asks of the machine: compiled models, devices that are there or not, precision, checkpoints in time."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.events import Done
from recollect.training import processor
from recollect.training.checkpoint import SHARE, Due
from recollect.training.device import COMPILERS, driver, libraries, named, require, set_up
from recollect.training.execute import execute, provenance
from recollect.training.processor import flags
from tests.support.small import tiny

ON_CUDA: dict[str, Any] = {"compute__device": "cuda", "compute__kernel": "torch"}


def losses(spec: RunSpec) -> list[float | None]:
    """The training losses of a run."""
    (done,) = (event for event in execute(spec) if isinstance(event, Done))
    found: list[float | None] = done.result["curves"]["train_loss"][1:]
    return found


@pytest.mark.filterwarnings("ignore")  # torch.compile warns of its own ways
@pytest.mark.parametrize("mixer", [pytest.param("attention", marks=pytest.mark.prove), "mamba"])
def test_a_compiled_model_has_the_same_losses(mixer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced and differentiated ahead; making machine code of it takes a minute and is the next test's."""
    plain = tiny(mixer, compute__kernel="torch", train__lr=0.02)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    assert losses(tiny(mixer, compute__kernel="torch", train__lr=0.02, compute__compile=True)) == pytest.approx(
        losses(plain), rel=1e-5
    )


@pytest.mark.prove
@pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="no C++ compiler")
@pytest.mark.filterwarnings("ignore")
def test_machine_code_has_the_same_losses() -> None:
    fields: dict[str, Any] = {"compute__kernel": "torch", "train__lr": 0.02}
    assert losses(tiny(compute__compile=True, **fields)) == pytest.approx(losses(tiny(**fields)), rel=1e-4)


def test_without_a_compiler_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(
        BadInput, match=r"^compute.compile: needs a C\+\+ compiler \(no-such-compiler\) and there is none"
    ):
        require(tiny(compute__kernel="torch", compute__compile=True))


def test_a_device_that_is_not_here_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadInput, match=r"^compute.device: cuda is asked for and torch finds none here"):
        require(tiny(**ON_CUDA))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    require(tiny(**ON_CUDA | {"compute__device": "cuda:1"}))
    with pytest.raises(BadInput, match=r"^compute.device: cuda:2 is asked for and torch finds 2 of them here"):
        require(tiny(**ON_CUDA | {"compute__device": "cuda:2"}))


def test_a_library_is_asked_for_its_modules_and_named_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tiny("kda", **ON_CUDA | {"compute__kernel": "fla"})
    monkeypatch.setattr("recollect.training.device.find_spec", lambda module: None if module == "triton" else module)
    with pytest.raises(BadInput, match=r"^compute.kernel: fla needs triton, not installed here; use torch$"):
        require(spec)
    monkeypatch.setattr("recollect.training.device.version", lambda package: f"{len(package)}.0")
    assert libraries(spec) == {"fla-core": "8.0", "triton": "6.0"}
    monkeypatch.setattr("recollect.training.execute.named", lambda device: {})
    assert provenance(spec).items() >= libraries(spec).items()
    assert libraries(tiny()) == {}


def test_the_provenance_names_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"card {device.index}")
    monkeypatch.setattr(torch.version, "cuda", "12.4")
    assert named(torch.device("cuda:1")) == {"gpu": "card 1", "cuda": "12.4", "driver": driver()}
    assert named(torch.device("cpu")) == {}


def test_a_process_is_set_up_for_each_spec_anew() -> None:
    set_up(tiny(**ON_CUDA, compute__precision="tf32", compute__deterministic=True))
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == ("high", True)
    assert torch.are_deterministic_algorithms_enabled()
    set_up(tiny())
    assert (torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32) == ("highest", False)
    assert not torch.are_deterministic_algorithms_enabled()


def test_checkpoints_take_their_share_of_a_runs_time() -> None:
    due, now, spent, count = Due(None, 10**6, 0.0), 0.0, 0.0, 0
    while now < 100:
        now += 0.01
        if due.at(now):
            due.took(now, now + 0.05)
            now, spent, count = now + 0.05, spent + 0.05, count + 1
            assert spent <= SHARE * now + 0.01
    assert count > 30
    every = Due(5.0, 10**6, 0.0)
    assert [now for now in range(12) if every.at(now) and every.took(now, now) is None] == [5, 10]


def test_bf16_without_its_units_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nflags\t\t: fpu avx2 avx512_bf16\n")
    assert flags(tmp_path / "cpuinfo") == {"fpu", "avx2", "avx512_bf16"}
    assert flags(tmp_path / "none") == frozenset()
    half = tiny(compute__precision="bf16")
    for has, said in (({"avx2"}, True), ({"amx_bf16"}, False), (set(), False)):
        monkeypatch.setattr(processor, "flags", lambda has=has: frozenset(has))
        assert ("no units for bf16" in processor.advice([tiny(), half])) == said
        assert processor.advice([tiny(), tiny(**ON_CUDA, compute__precision="bf16")]) == ""
