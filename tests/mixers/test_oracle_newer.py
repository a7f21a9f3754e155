"""The newer mixers against other people's recurrences and layers, at odd sizes: outputs and all gradients."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.gated_deltaproduct import GatedDeltaProduct
from recollect.mixers.gla import GLA
from recollect.mixers.kda import KDA
from recollect.mixers.mamba3 import Mamba3
from recollect.mixers.mlstm import MLSTM
from recollect.mixers.retnet import RetNet
from recollect.mixers.rwkv7 import RWKV7
from recollect.ops.forms import OWN
from tests.support.oracles import layers

ROWS: list[tuple[str, dict[str, Any], Callable[[Any], Callable[[Tensor], Tensor]]]] = [
    ("gla", {}, layers.gla),
    ("gla", {"n_heads": 3, "d_conv": 4, "chunk": 16}, layers.gla),
    ("gla", {"gate": False, "temperature": 1.0, "expand_v": 2}, layers.gla),
    ("retnet", {}, layers.retnet),
    ("retnet", {"n_heads": 6, "gate": False, "d_conv": 3, "positions": "none", "chunk": 16}, layers.retnet),
    ("kda", {}, layers.kda),
    ("kda", {"n_heads": 3, "d_conv": 0, "negative_eigenvalues": True, "chunk": 16}, layers.kda),
    ("kda", {"n_heads": 2, "chunk": 16}, layers.transformers_kda),
    ("gated_deltaproduct", {}, layers.gated_deltaproduct),
    ("gated_deltaproduct", {"n_heads": 2, "n_steps": 3, "expand_v": 2, "d_conv": 0}, layers.gated_deltaproduct),
    ("gated_deltaproduct", {"n_steps": 1, "negative_eigenvalues": False, "chunk": 16}, layers.gated_deltaproduct),
    ("mlstm", {}, layers.mlstm),
    ("mlstm", {"n_heads": 3, "d_key": 16, "chunk": 16}, layers.mlstm),
    ("mamba3", {}, layers.mamba3),
    ("mamba3", {"head_dim": 8, "d_state": 10, "rotation": 1.0, "expand": 1, "chunk": 16}, layers.mamba3),
    ("mamba3", {"trapezoid": False, "rotation": 0.0}, layers.mamba3),
    ("rwkv7", {}, layers.rwkv7),
    ("rwkv7", {"head_dim": 16, "gate": False, "chunk": 16}, layers.rwkv7),
]


def made(name: str, options: dict[str, Any], kernel: str = OWN[0], d_model: int = 48) -> nn.Module:
    """A mixer with every parameter moved off its initial value."""
    torch.manual_seed(0)
    mixer = build_mixer(name, d_model=d_model, kernel=kernel, **options)
    with torch.no_grad():
        for p in mixer.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return mixer


def named(part: Any) -> str:
    """The same in every process."""
    return getattr(part, "__name__", str(part) if part else "")


@pytest.mark.parametrize(("name", "options", "oracle"), ROWS, ids=named)
@pytest.mark.parametrize("kernel", OWN)
def test_outputs_and_all_gradients_equal_the_oracle(name: str, options: Any, oracle: Any, kernel: str) -> None:
    mixer = made(name, options, kernel)
    x, weights = torch.randn(2, 3, 37, 48)
    inputs = [x.requires_grad_(), *mixer.parameters()]
    outputs = [mixer(x), oracle(mixer)(x)]
    gradients = [torch.autograd.grad((y * weights).sum(), inputs) for y in outputs]
    names = ["out", "x", *(key for key, _ in mixer.named_parameters())]
    for key, ours, judge in zip(names, (outputs[0], *gradients[0]), (outputs[1], *gradients[1]), strict=True):
        torch.testing.assert_close(ours, judge, rtol=1e-5, atol=1e-5 * judge.abs().max().item(), msg=key)


@pytest.mark.parametrize("name", sorted({name for name, *_ in ROWS}))
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e4])
def test_tiny_and_huge_inputs_stay_finite(name: str, size: float) -> None:
    mixer, x = made(name, {}, d_model=16), (size * torch.randn(2, 70, 16)).requires_grad_()
    y = mixer(x)
    y.sum().backward()
    assert y.isfinite().all()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in [x, *mixer.parameters()])


def test_the_first_decays_of_gla_are_slow_and_differ_by_channel() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("gla", d_model=64)
    assert isinstance(mixer, GLA)
    g = mixer._inputs(torch.randn(4, 32, 64))[3].exp()
    assert 0.955 < g.mean() < 0.96  # σ(0)^(1/16)
    assert 0.005 < g.std() < 0.02
    assert mixer.state_size(100) == 32 * 64


@pytest.mark.parametrize("name", ["gla", "retnet"])
def test_projections_of_gla_and_retnet_start_as_torchs_do(name: str) -> None:
    torch.manual_seed(0)
    mixer = build_mixer(name, d_model=256)
    for project in (mixer.q_proj, mixer.k_proj, mixer.v_proj, mixer.g_proj, mixer.out_proj):
        bound = 1 / math.sqrt(project.in_features)
        assert project.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
        assert project.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("name", "width", "options"),
    [("rwkv7", 67, {}), ("rwkv7", 8, {"head_dim": 1}), ("mlstm", 131, {}), ("mlstm", 8, {"n_heads": 8})],
)
def test_heads_that_could_remember_nothing_are_refused(name: str, width: int, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="heads of width 1 remember nothing"):
        build_mixer(name, d_model=width, **options)


def test_the_decays_of_retnet_are_those_of_the_paper() -> None:
    mixer = build_mixer("retnet", d_model=64)
    assert isinstance(mixer, RetNet)
    torch.testing.assert_close(mixer.log_decay.exp().tolist(), [1 - 1 / 32, 1 - 1 / 64, 1 - 1 / 128, 1 - 1 / 256])
    assert mixer.state_size(100) == 4 * 16 * 32


def test_the_first_decays_of_kda_are_slow_and_differ_by_channel() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("kda", d_model=512, n_heads=256)
    assert isinstance(mixer, KDA)
    A, steps = mixer.A_log.exp(), F.softplus(mixer.dt_bias).log10()
    assert 1 <= A.min() < 1.3
    assert 15.7 < A.max() <= 16
    assert len(steps) == 512
    assert -3.001 < steps.min() < -2.9
    assert -1.1 < steps.max() < -0.999
    assert -2.1 < steps.mean() < -1.9
    assert build_mixer("kda", d_model=64).state_size(100) == 64 * 64 + 3 * 64 * 3


def test_the_first_decays_of_gated_deltaproduct_are_those_of_gated_deltanet() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("gated_deltaproduct", d_model=512, n_heads=256)
    assert isinstance(mixer, GatedDeltaProduct)
    A, steps = mixer.A_log.exp(), F.softplus(mixer.dt_bias).log10()
    assert 0 < A.min() < 0.3
    assert 15.7 < A.max() <= 16
    assert -3.001 < steps.min() < -2.9
    assert -1.1 < steps.max() < -0.999
    assert build_mixer("gated_deltaproduct", d_model=64).state_size(100) == 64 * 64 + 5 * 64 * 3


@pytest.mark.parametrize("n_layers", [1, 4])
def test_rwkv7_starts_as_its_paper_says_at_any_depth(n_layers: int) -> None:
    first, last = (build_mixer("rwkv7", d_model=128, layer=i, n_layers=n_layers) for i in (0, n_layers - 1))
    assert isinstance(first, RWKV7)
    assert isinstance(last, RWKV7)
    for mixer in (first, last):
        assert all(p.isfinite().all() for p in mixer.parameters())
        assert mixer.out_proj.weight.abs().max() == 0
        torch.testing.assert_close(mixer.k_proj.weight @ mixer.k_proj.weight.T, 0.01 * torch.eye(128))
        assert mixer.k_k[0].item() == pytest.approx(0.76)
        assert mixer.k_k[-1].item() == pytest.approx(0.66)
        assert (mixer.r_k == -0.04).all()
    w = first._inputs(torch.randn(1, 3, 128))[3].detach().exp()
    assert 0.54 < w.min() < 0.61  # the fastest channel, and the slowest one
    assert 0.998 < w.max() < 1
    bias = first.w_proj[2].get_parameter("bias")
    torch.testing.assert_close(bias[[0, 63, 64, 127]].tolist(), [-8.0, -3 + 6 * 63 / 127, -8 + 6 * 64 / 127, 3.0])
    assert first.norm_weight[0].item() == pytest.approx(n_layers**-0.7)
    assert last.norm_weight[0].item() == pytest.approx(1)
    assert first.state_size(100) == 2 * 64 * 64 + 128


def test_mlstm_starts_almost_closed_and_forgets_slowly() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("mlstm", d_model=256, n_heads=4, n_layers=2)
    assert isinstance(mixer, MLSTM)
    *_, log_i, log_f = mixer._inputs(torch.randn(1, 3, 256))
    torch.testing.assert_close(log_i, torch.full_like(log_i, -15 * math.tanh(10 / 15)))
    torch.testing.assert_close(mixer.f_proj.bias.tolist(), [3.0, 4.0, 5.0, 6.0])
    assert 0.95 < log_f.exp().min() < log_f.exp().max() < 1
    assert mixer.q_proj.weight.std().item() == pytest.approx(math.sqrt(2 / (5 * 256)), rel=0.03)
    assert mixer.out_proj.weight.std().item() == pytest.approx(1 / 16, rel=0.03)
    assert mixer.z_proj.weight.abs().max() == 0
    assert mixer.state_size(100) == 4 * (32 * 64 + 32 + 1)


def test_mamba3_starts_as_its_authors_code_does() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("mamba3", d_model=512, head_dim=4)
    assert isinstance(mixer, Mamba3)
    steps = F.softplus(mixer.dt_bias).log10()
    assert len(steps) == 256
    assert -3.001 < steps.min() < -2.9
    assert -1.1 < steps.max() < -0.999
    for ones in (mixer.D, mixer.B_bias, mixer.C_bias, mixer.B_norm.weight):
        assert (ones == 1).all()
    _, _, share, g, *_ = mixer._inputs(torch.randn(1, 50, 512))
    assert 0.49 < share.mean() < 0.51
    assert g.max() < 0
    small = build_mixer("mamba3", d_model=64, head_dim=32, d_state=16)
    assert small.state_size(100) == 128 * 16 + 4 * 4 + 4 * 16 + 128
