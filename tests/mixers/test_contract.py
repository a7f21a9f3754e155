"""One contract, every mixer (DESIGN.md rule 5)."""

from typing import Any

import pytest
import torch
from torch import Tensor

from recollect.mixers import MatrixMixer, Mixer, build_mixer
from recollect.ops import forms
from recollect.spec import MIXERS, mixer_options
from tests.support.mixer_rows import ROWS, VALUE_LINEAR, label

B, L, D = 2, 12, 16
every_mixer = pytest.mark.parametrize("row", ROWS, ids=label)


def make(row: tuple[str, dict[str, Any]], d_model: int = D, length: int = L, **place: Any) -> Mixer:
    """A mixer in double precision, every parameter moved off its initial value."""
    torch.manual_seed(0)
    name, options = row
    mixer = build_mixer(name, d_model=d_model, length=length, **place, **options).double()
    with torch.no_grad():
        for p in mixer.parameters():
            p.add_(0.1 * torch.randn_like(p))
    return mixer


def draw(batch: int = B, length: int = L, d_model: int = D) -> Tensor:
    return torch.randn(batch, length, d_model, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_every_mixer_has_a_row() -> None:
    assert {name for name, _ in ROWS} == set(MIXERS)


@every_mixer
def test_a_mixer_picks_the_ops_that_its_options_name(
    row: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    picked, form_of = set[str](), forms.form_of
    monkeypatch.setattr(forms, "form_of", lambda op, kernel: picked.add(op) or form_of(op, kernel))
    name, options = row
    build_mixer(name, d_model=D, length=L, **options)
    assert picked == set(mixer_options(name, options).uses())


@every_mixer
def test_the_future_is_never_seen_and_the_past_is_used(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw().requires_grad_()
    weights = torch.randn(D, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    for t in (0, 1, 5, L - 1):
        (grad,) = torch.autograd.grad((mixer(x)[:, t] @ weights).sum(), x)
        assert grad[:, t + 1 :].abs().max().item() == 0 if t + 1 < L else True
        if t > 0:
            assert grad[:, :t].abs().max() > 1e-12


@every_mixer
def test_every_parameter_gets_a_finite_gradient(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw()
    (mixer(x) * torch.randn_like(x)).sum().backward()
    for name, p in mixer.named_parameters():
        assert p.grad is not None, name
        assert p.grad.isfinite().all(), name
        assert p.grad.abs().max() > 0, name


@every_mixer
def test_rows_are_independent(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw(3)
    torch.testing.assert_close(mixer(x)[1:2], mixer(x[1:2]), rtol=1e-9, atol=1e-11)


@every_mixer
def test_what_comes_after_a_position_need_not_be_there(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw()
    for t in (1, 6, L - 1):
        torch.testing.assert_close(mixer(x[:, :t]), mixer(x)[:, :t], rtol=1e-9, atol=1e-11)


@every_mixer
def test_asked_rows_equal_the_full_computation_with_gradients(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw().requires_grad_()
    at = torch.tensor([[3, 11, 7], [0, 5, 5]])
    full = torch.take_along_dim(mixer(x), at.unsqueeze(-1), dim=1)
    asked = mixer(x, at)
    inputs = [x, *mixer.parameters()]
    weights = torch.randn_like(full)
    # With all asked rows early or few, a parameter may be out of the graph's reach: that counts as zero.
    gradients = [torch.autograd.grad((y * weights).sum(), inputs, allow_unused=True) for y in (full, asked)]
    torch.testing.assert_close(asked, full, rtol=1e-9, atol=1e-11)
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(
            torch.zeros(()) if b is None else b, torch.zeros(()) if a is None else a, rtol=1e-8, atol=1e-10
        )


@every_mixer
@pytest.mark.parametrize(("batch", "length", "d_model"), [(1, 1, 16), (2, 2, 16), (1, 7, 48), (2, 33, 48)])
def test_odd_shapes_give_finite_outputs_and_gradients(
    row: tuple[str, dict[str, Any]], batch: int, length: int, d_model: int
) -> None:
    mixer, x = make(row, d_model=d_model, length=max(length, 4)), draw(batch, length, d_model).requires_grad_()
    y = mixer(x)
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert y.shape == x.shape
    assert y.isfinite().all()
    assert grad.isfinite().all()


@every_mixer
def test_the_fast_form_equals_the_loop_with_gradients(row: tuple[str, dict[str, Any]]) -> None:
    x = draw(2, 33, 48).requires_grad_()
    weights = torch.randn(2, 33, 48, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    results = []
    for kernel in ("loop", "torch", "numba"):
        mixer = make(row, d_model=48, length=33, kernel=kernel)
        y = mixer(x)
        results.append((y, *torch.autograd.grad((y * weights).sum(), [x, *mixer.parameters()])))
    for other in results[1:]:
        for ours, judge in zip(other, results[0], strict=True):
            torch.testing.assert_close(ours, judge, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("row", [r for r in ROWS if r[0] in VALUE_LINEAR], ids=label)
def test_the_mixing_matrix_times_the_values_is_the_output(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw()
    assert isinstance(mixer, MatrixMixer)
    M, v = mixer.mixing(x)
    assert M.shape[-2:] == (L, L)
    assert M.triu(1).abs().max() == 0
    torch.testing.assert_close(mixer.finish(M @ v, x), mixer(x), rtol=1e-8, atol=1e-10)


@every_mixer
def test_single_precision_works_and_stays_close(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row), draw()
    exact = mixer(x)
    torch.testing.assert_close(mixer.float()(x.float()).double(), exact, rtol=1e-3, atol=1e-4)


@every_mixer
def test_autocast_to_bfloat16_works_there_and_back(row: tuple[str, dict[str, Any]]) -> None:
    mixer, x = make(row).float(), draw().float()
    with torch.autocast("cpu", torch.bfloat16):
        y = mixer(x)
    y.float().square().mean().backward()
    torch.testing.assert_close(y.float(), mixer(x), rtol=0.1, atol=0.1 * float(mixer(x).detach().abs().max()))
    assert all(p.grad is not None and p.grad.isfinite().all() for p in mixer.parameters())
