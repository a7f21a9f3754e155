"""The kernels of other libraries: what they are given, judged by their own plain references behind their signatures.

No GPU and no triton: only the way of the arguments there and of the results back is tested here, with gradients.
"""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import recollect
from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.ops.forms import LIBRARIES, OPS, pick
from recollect.spec import MIXERS
from tests.support.mixer_rows import ROWS, label
from tests.support.oracles.libraries import stand_ins

TOLERANCE = 1e-4
"""Relative to the largest number: fla's references compute in single precision, and gradients are sums that cancel."""
LENGTH, WIDTH = 11, 16


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)


def served(kernel: str) -> list[tuple[str, dict[str, Any]]]:
    """The rows of mixers all of whose ops have a form for this kernel."""
    ops = [(row, MIXERS[row[0]].model_validate({"name": row[0], **row[1]}).uses()) for row in ROWS]
    return [row for row, used in ops if used and all(kernel in OPS[op] for op in used)]


def both(kernel: str, row: tuple[str, dict[str, Any]]) -> tuple[nn.Module, nn.Module]:
    """The mixer with this kernel's forms and with our own, of the same weights, all moved off their start."""
    name, options = row
    torch.manual_seed(0)
    ours, judge = (build_mixer(name, d_model=WIDTH, length=LENGTH, kernel=k, **options) for k in (kernel, "torch"))
    torch.manual_seed(1)
    with torch.no_grad():
        for p in judge.parameters():
            p.add_(0.1 * torch.randn_like(p))
    ours.load_state_dict(judge.state_dict())
    return ours, judge


def assert_close(ours: Tensor, judge: Tensor, name: str) -> None:
    torch.testing.assert_close(ours, judge, rtol=0, atol=TOLERANCE * judge.abs().max().item(), msg=name)


@pytest.mark.parametrize(
    ("kernel", "row"),
    [(kernel, row) for kernel in LIBRARIES for row in served(kernel)],
    ids=lambda given: given if isinstance(given, str) else label(given),
)
@pytest.mark.parametrize("asked", [False, True], ids=["all rows", "asked rows"])
def test_a_mixer_is_the_same_with_all_gradients(kernel: str, row: tuple[str, dict[str, Any]], asked: bool) -> None:
    x = torch.randn(2, LENGTH, WIDTH, generator=torch.Generator().manual_seed(0))
    at = torch.tensor([[10, 3, 3], [0, 7, 9]]) if asked else None
    made = []
    for mixer in both(kernel, row):
        given = x.clone().requires_grad_()
        y = mixer(given, at)
        weights = torch.randn(y.shape, generator=torch.Generator().manual_seed(2))
        (y * weights).sum().backward()
        grads = {name: p.grad for name, p in mixer.named_parameters()}
        made.append({"y": y.detach(), "x": given.grad, **grads})
    for name, judge in made[1].items():
        assert_close(made[0][name], judge, name)


def test_every_form_of_a_library_serves_some_mixer() -> None:
    for kernel in LIBRARIES:
        used = {op for name, options in served(kernel) for op in MIXERS[name](**options).uses()}
        assert {op for op, forms in OPS.items() if forms.get(kernel) == kernel} <= used


def recording(monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> dict[str, Any]:
    """What the library's function is called with."""
    seen: dict[str, Any] = {}
    real: Callable[..., Any] = getattr(sys.modules[module], name)
    monkeypatch.setattr(sys.modules[module], name, lambda **given: seen.update(given) or real(**given))
    return seen


CALLS = {
    ("fla.ops.gated_delta_rule", "chunk_gated_delta_rule"): ("deltanet", "qkv", "g"),
    ("fla.ops.kda", "chunk_kda"): ("kda", "qkv", "g"),
    ("fla.ops.gla", "chunk_gla"): ("gla", "qkv", "g"),
    ("fla.ops.simple_gla", "chunk_simple_gla"): ("mamba2", "qkv", "g"),
    ("fla.ops.generalized_delta_rule", "chunk_dplr_delta_rule"): ("rwkv7", "qkvab", ["gk"]),
}


@pytest.mark.parametrize("half", [False, True], ids=["fp32", "bf16"])
@pytest.mark.parametrize("called", CALLS, ids=lambda called: called[1])
def test_fla_gets_one_precision_and_decays_in_full(
    called: tuple[str, str], half: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixer, operands, decays = CALLS[called]
    seen = recording(monkeypatch, *called)
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        y = build_mixer(mixer, d_model=WIDTH, kernel="fla")(torch.randn(2, LENGTH, WIDTH))
    assert {seen[name].dtype for name in operands} == {torch.bfloat16 if half else torch.float32}
    assert {seen[name].dtype for name in decays} == {torch.float32}
    assert seen["scale"] == 1.0
    assert y.isfinite().all()


def test_the_convolution_hands_over_channels_as_they_lie_or_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    convolve, seen = pick("causal_conv", "mamba_ssm"), recording(monkeypatch, "causal_conv1d", "causal_conv1d_fn")
    for channels, stride in ((16, 1), (12, 9)):
        convolve(torch.randn(2, 9, channels), torch.randn(channels, 3))
        assert seen["x"].stride(1) == stride
    with pytest.raises(BadInput, match=r"^compute.kernel: causal-conv1d has 2 to 4 taps \(got 5\); use torch$"):
        convolve(torch.randn(2, 9, 16), torch.randn(16, 5))


def test_no_library_is_imported_before_it_is_called() -> None:
    libraries = {module for needed in LIBRARIES.values() for module in needed}
    for file in Path(recollect.__path__[0]).rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            assert not names_of(node) & libraries, file


def names_of(node: ast.stmt) -> set[str]:
    """The packages that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()
