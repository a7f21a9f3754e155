"""H3 and Hyena have no package to compare with: their kernels against scipy and numpy, the whole mixers too."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
import torch
from numpy.typing import NDArray
from torch import nn

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.h3 import H3, DiagonalSSM, ShiftSSM
from recollect.mixers.hyena import Hyena, ImplicitFilter

EXACT = {"rtol": 1e-9, "atol": 1e-10}
Array = NDArray[Any]


def numbers(module: nn.Module) -> dict[str, Array]:
    """The module's parameters, moved off their initial values, as numpy arrays."""
    with torch.no_grad():
        for p in module.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return {name: p.detach().numpy() for name, p in module.named_parameters()}


def affine(p: dict[str, Array], name: str, x: Array) -> Array:
    y: Array = x @ p[f"{name}.weight"].T
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def complex_of(pairs: Array) -> Array:
    both: Array = pairs[..., 0] + 1j * pairs[..., 1]
    return both


@pytest.mark.parametrize("length", [1, 2, 7, 33, 100])
def test_the_diagonal_kernel_is_scipys_impulse_response(length: int) -> None:
    torch.manual_seed(0)
    ssm = DiagonalSSM(3, 8, "torch").double()
    p = numbers(ssm)
    B, C = complex_of(p["B"]), complex_of(p["C"])
    for head, kernel in enumerate(ssm(length).detach().numpy()):
        dt, re, im = math.exp(p["log_dt"][head]), -np.exp(p["a"][head]), p["omega"][head]
        A = np.block([[np.diag(re), -np.diag(im)], [np.diag(im), np.diag(re)]])
        b = np.concatenate([B[head].real, B[head].imag])[:, None]
        c = 2 * np.concatenate([C[head].real, -C[head].imag])[None]
        a_bar, b_bar, *_ = scipy.signal.cont2discrete((A, b, c, np.zeros((1, 1))), dt, method="bilinear")
        # scipy's output sees the state before the update: its response comes one step later.
        _, (response,) = scipy.signal.dimpulse((a_bar, b_bar, c, np.zeros((1, 1)), 1.0), n=length + 1)
        expected = response[1:, 0]
        expected[0] += p["D"][head]
        np.testing.assert_allclose(kernel, expected, **EXACT)


@pytest.mark.parametrize("length", [1, 5, 8, 20])
def test_the_shift_kernel_is_the_impulse_response_of_a_shift_register(length: int) -> None:
    torch.manual_seed(0)
    ssm = ShiftSSM(3, 8).double()
    p = numbers(ssm)
    shift = np.eye(8, k=-1)
    kernel = ssm(length).detach().numpy()
    assert kernel.shape == (3, min(8, length))
    for channel in range(3):
        state, expected = p["B"][channel], []
        for _ in range(kernel.shape[1]):
            expected.append(p["C"][channel] @ state)
            state = shift @ state
        expected[0] += p["D"][channel]
        np.testing.assert_allclose(kernel[channel], expected, **EXACT)


@pytest.mark.parametrize("length", [20, 150])
@pytest.mark.parametrize("head_dim", [1, 2, 4])
def test_h3_is_its_recurrence_in_numpy(head_dim: int, length: int) -> None:
    torch.manual_seed(0)
    mixer = build_mixer("h3", d_model=8, length=length, d_state=6, head_dim=head_dim).double()
    assert isinstance(mixer, H3)
    p, x = numbers(mixer), torch.randn(2, length, 8, dtype=torch.float64)
    q, k, v = (affine(p, f"{name}_proj", x.numpy()) for name in "qkv")
    half = np.exp(p["diagonal.log_dt"])[:, None] * (-np.exp(p["diagonal.a"]) + 1j * p["diagonal.omega"]) / 2
    a_bar = (1 + half) / (1 - half)
    b_bar = np.exp(p["diagonal.log_dt"])[:, None] * complex_of(p["diagonal.B"]) / (1 - half)
    register = np.zeros((2, 8, 6))
    memory = np.zeros((2, 8 // head_dim, head_dim, head_dim, 3), dtype=complex)
    rows = []
    for t in range(length):
        register = np.roll(register, 1, axis=-1)
        register[..., 0] = 0
        register = register + p["shift.B"] * k[:, t, :, None]
        shifted = (p["shift.C"] * register).sum(-1) + p["shift.D"] * k[:, t]
        kv = np.einsum("bhi,bhj->bhij", *(z.reshape(2, -1, head_dim) for z in (shifted, v[:, t])))
        memory = a_bar[:, None, None] * memory + b_bar[:, None, None] * kv[..., None]
        S = 2 * (complex_of(p["diagonal.C"])[:, None, None] * memory).sum(-1).real
        S = S + p["diagonal.D"][:, None, None] * kv
        rows.append(np.einsum("bhi,bhij->bhj", q[:, t].reshape(2, -1, head_dim), S).reshape(2, 8))
    np.testing.assert_allclose(mixer(x).detach().numpy(), affine(p, "out_proj", np.stack(rows, axis=1)), **EXACT)


@pytest.mark.parametrize("d_state", [2, 8])
def test_h3_stays_finite_with_extreme_steps_and_decays(d_state: int) -> None:
    for step in (-30.0, 10.0):
        for decay in (-30.0, 10.0):
            torch.manual_seed(0)
            mixer = build_mixer("h3", d_model=8, length=33, d_state=d_state)
            assert isinstance(mixer, H3)
            nn.init.constant_(mixer.diagonal.log_dt, step)
            nn.init.constant_(mixer.diagonal.a, decay)
            y = mixer(torch.randn(2, 33, 8))
            y.sum().backward()
            assert y.isfinite().all()
            assert all(p.grad is not None and p.grad.isfinite().all() for p in mixer.parameters())


def test_a_mode_whose_discrete_decay_is_exactly_zero_has_finite_gradients() -> None:
    ssm = DiagonalSSM(1, 2, "torch").double()
    nn.init.constant_(ssm.log_dt, math.log(4.0))  # with A = -1/2 this makes 1 + ΔA/2 zero
    ssm(33).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in ssm.parameters())


@pytest.mark.parametrize("length", [1, 2, 7, 33])
def test_hyenas_filter_follows_its_equations(length: int) -> None:
    torch.manual_seed(0)
    made = ImplicitFilter(5, 6, 33).double()
    p = numbers(made)
    h = p["e"][:length]
    for layer in range(3):
        h = np.sin(p["frequency"] * affine(p, f"hidden.{layer}", h))
    delta = np.linspace(math.log(0.01) / 1.5, math.log(0.01) / 0.3, 5)
    decay = np.exp(-np.linspace(0, 1, 33)[:length, None] * np.abs(delta))
    # The decay's constants are kept in single precision.
    np.testing.assert_allclose(made(length).detach().numpy(), (affine(p, "last", h) * decay).T, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("length", [1, 2, 7, 33, 150])
def test_hyena_is_its_equations_with_numpys_convolution(length: int) -> None:
    torch.manual_seed(0)
    mixer = build_mixer("hyena", d_model=4, length=max(length, 4), d_filter=6).double()
    assert isinstance(mixer, Hyena)
    p, x = numbers(mixer), torch.randn(2, length, 4, dtype=torch.float64)
    h = mixer.filter(length).detach().numpy()
    u = affine(p, "in_proj", x.numpy())
    short = np.empty_like(u)
    for b in range(2):
        for c in range(12):
            taps = p["conv.weight"][c, ::-1]
            short[b, :, c] = p["conv.bias"][c] + np.convolve(u[b, :, c], taps)[:length]
    x1, x2, v = np.split(short, 3, axis=-1)
    z, y = v * x1, np.empty_like(x1)
    for b in range(2):
        for c in range(4):
            y[b, :, c] = np.convolve(h[c], z[b, :, c])[:length] + p["beta"][c] * z[b, :, c]
    np.testing.assert_allclose(mixer(x).detach().numpy(), affine(p, "out_proj", y * x2), **EXACT)


def test_hyena_refuses_a_row_longer_than_its_filter() -> None:
    with pytest.raises(BadInput, match="covers 8 tokens"):
        build_mixer("hyena", d_model=4, length=8)(torch.randn(1, 9, 4))


@pytest.mark.parametrize(("name", "d_model", "options"), [("h3", 8, {"head_dim": 1}), ("hyena", 7, {})])
def test_rotary_positions_refuse_an_odd_width(name: str, d_model: int, options: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="rope needs an even"):
        build_mixer(name, d_model=d_model, positions="rope", **options)


def test_h3_starts_as_s4d_lin_and_a_shift_of_one_step() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("h3", d_model=512, length=64)
    assert isinstance(mixer, H3)
    shift, diagonal = mixer.shift, mixer.diagonal
    assert diagonal.C.shape == (256, 32, 2)
    torch.testing.assert_close(shift.B, torch.eye(64)[:1].expand(512, 64))
    assert shift.C.abs().max() <= 1 / 8
    assert abs(shift.C.std().item() - 1 / (8 * math.sqrt(3))) < 1e-3
    torch.testing.assert_close(diagonal.a, torch.full((256, 32), math.log(0.5)))
    torch.testing.assert_close(diagonal.omega, (math.pi * torch.arange(32.0)).expand(256, 32))
    torch.testing.assert_close(torch.view_as_complex(diagonal.B), torch.ones(256, 32, dtype=torch.complex64))
    assert abs(diagonal.C.square().sum(-1).mean().item() - 1) < 0.05
    assert diagonal.log_dt.exp().min() >= 1e-3
    assert diagonal.log_dt.exp().max() <= 1e-1
    assert abs(diagonal.log_dt.mean().item() - math.log(1e-2)) < 0.2
    for skip in (shift.D, diagonal.D):
        assert abs(skip.mean().item()) < 0.2
        assert abs(skip.std().item() - 1) < 0.1


def test_hyena_starts_with_nearly_constant_features_and_a_normal_skip() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("hyena", d_model=512, length=64)
    assert isinstance(mixer, Hyena)
    e, w = mixer.filter.e, 2 * math.pi * torch.arange(64.0) / 64
    expected = torch.stack((torch.linspace(0, 1, 64), torch.cos(1e-4 * w), -torch.sin(1e-4 * w)), dim=-1)
    torch.testing.assert_close(e.detach(), expected)
    torch.testing.assert_close(mixer.filter.frequency.detach(), torch.ones(64))
    assert "delta" not in dict(mixer.filter.named_parameters())
    assert abs(mixer.beta.mean().item()) < 0.2
    assert abs(mixer.beta.std().item() - 1) < 0.1
    assert mixer.conv.weight.abs().max() <= 1 / math.sqrt(3)
