"""A device that is not here: one sentence where it is needed, and a dry run that never needs it."""

from pathlib import Path
from typing import Any

import pytest
import torch

from recollect.sweep.executors.executor import cores
from recollect.training.processor import BF16, flags
from tests.cli.test_cli import TINY_SETS, call, set_words
from tests.support.small import TINY

ON_CUDA = {"compute.device": "cuda", "compute.kernel": "torch"}
CUDA = set_words(ON_CUDA)
WORDS = {
    "train": ["train", "mqar", "attention", *TINY_SETS, *CUDA],
    "run": ["run", "demo", "--scale", "smoke", *CUDA],
    "window": ["window", "mqar", "attention", *TINY_SETS, *CUDA],
}


@pytest.fixture(autouse=True)
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder on a machine without CUDA."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.parametrize("command", WORDS)
def test_a_device_that_is_not_here_is_one_sentence_and_nothing_is_written(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = call(capsys, *WORDS[command])
    sentence = "recollect: compute.device: cuda is asked for and torch finds none here; --dry-run needs none\n"
    assert (code, out, err) == (2, "", sentence)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("mixer", "device", "kernel", "sentence"),
    [
        ("kda", "cuda", "fla", "compute.kernel: fla needs fla-core, triton, not installed here; use torch"),
        ("mamba", "cuda", "mamba_ssm", "compute.kernel: mamba_ssm needs mamba-ssm, causal-conv1d, not installed here;"),
        ("kda", "cpu", "fla", "train: compute.kernel: fla runs on a CUDA device only (device cpu); use torch"),
        ("attention", "cuda", "fla", "train: compute.kernel: fla has no form of softmax; allowed: numba, torch, loop"),
    ],
)
def test_a_library_that_cannot_serve_is_one_sentence_and_nothing_is_written(
    mixer: str,
    device: str,
    kernel: str,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.training.device.find_spec", lambda module: None)
    words = ["--set", f"compute.device={device}", "--set", f"compute.kernel={kernel}"]
    code, out, err = call(capsys, "train", "mqar", mixer, *TINY_SETS, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"recollect: {sentence}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["run", "window"])
def test_a_dry_run_needs_no_device_and_counts_gpu_hours(
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = call(capsys, *WORDS[command], "--dry-run")
    assert code == 0
    assert "time: not measured, as --dry-run never uses the device (cuda)" in out
    out = " ".join(out.split())
    assert "not measured (A100 (40 GB): 19.5 TFLOP/s fp32, 1,555 GB/s, 4 to 12 µs a kernel)" in out
    assert not list(tmp_path.iterdir())


MINE = """
from torch import nn


def build(vocab_size, d_model):
    return nn.Sequential(nn.Embedding(vocab_size, d_model), nn.Linear(d_model, vocab_size))


class Asks(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x):
        return self.out(x if x.abs().max() < 9 else x / 2)
"""


@pytest.mark.parametrize(
    ("mixers", "left"),
    [(["mine.py:build"], "1 of 1"), (["mine.py:Asks"], "1 of 1"), (["mine.py:build", "attention"], "1 of 2")],
)
@pytest.mark.parametrize("long", [ON_CUDA, {"train.steps": 1000000000}], ids=["cuda", "above a day"])
def test_code_that_does_not_run_on_shapes_alone_has_no_gpu_hours(
    mixers: list[str], left: str, long: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    code, out, err = call(capsys, "window", "mqar", *mixers, *set_words(TINY | long), "--dry-run")
    choice = "mine.py:Asks: trained without the exceptions that the protocol laptop makes"  # a mixer's, not a model's
    assert (code, err.startswith(choice), err == "") == (0, "mine.py:Asks" in mixers, "mine.py:Asks" not in mixers)
    assert f"not counted for {left} cells, whose code does not run on shapes alone" in " ".join(out.split())
    assert out.count("of one card") == ("attention" in mixers)


def test_the_workers_are_said_and_what_the_processor_is_slow_at(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "demo", "--scale", "smoke", "--dry-run", "--set", "compute.precision=bf16"]
    _, out, _ = call(capsys, *words, "--workers", "3")
    assert f"workers: 3, each with 1 thread of this machine's {cores()} cores; --workers changes it" in out
    assert out.count("no units for bf16") == (not BF16 & flags())
    _, _, err = call(capsys, "train", "mqar", "attention", *TINY_SETS, "--set", "compute.precision=bf16")
    assert err.count("no units for bf16") == (not BF16 & flags())
