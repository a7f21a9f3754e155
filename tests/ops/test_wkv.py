"""WKV-4, its token shift and its gate: fast forms against the judge, extreme inputs, threads, compilation."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from recollect.mixers import build_mixer
from recollect.ops.sigmoid_gate import sigmoid_gate_numba, sigmoid_gate_torch
from recollect.ops.token_shift import token_shift_numba, token_shift_torch
from recollect.ops.wkv import wkv_loop, wkv_numba, wkv_torch, wkv_weights

Op = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
EXACT = {"rtol": 1e-9, "atol": 1e-11}


def by_matrix(w: Tensor, u: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (wkv_weights(w, u, k) @ v.transpose(1, 2).unsqueeze(-1)).squeeze(-1).transpose(1, 2)


forms = pytest.mark.parametrize("form", [wkv_torch, wkv_numba, by_matrix])


def draw(batch: int, length: int, channels: int = 10, keys: float = 1.0) -> list[Tensor]:
    """w, u, k, v."""
    g = torch.Generator().manual_seed(0)
    w, u = torch.randn(2, channels, generator=g, dtype=torch.float64)
    k, v = torch.randn(2, batch, length, channels, generator=g, dtype=torch.float64)
    return [(2 * w).exp(), u, keys * k, v]


def with_gradients(op: Op, inputs: list[Tensor]) -> list[Tensor]:
    inputs = [x.detach().requires_grad_() for x in inputs]
    y = op(*inputs)
    direction = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(y.dtype)
    return [y, *torch.autograd.grad((y * direction).sum(), inputs, materialize_grads=True)]


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@forms
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 33, 64])
def test_every_form_equals_the_loop_with_all_gradients(form: Op, length: int, batch: int) -> None:
    inputs = draw(batch, length)
    for ours, judge in zip(with_gradients(form, inputs), with_gradients(wkv_loop, inputs), strict=True):
        torch.testing.assert_close(ours, judge, **EXACT)


@pytest.mark.parametrize("form", [wkv_torch, wkv_numba])
@pytest.mark.parametrize("w", [1e-12, 1e-3, 30.0, 1e6, 1e30])
@pytest.mark.parametrize("keys", [1.0, 80.0, 1e4])
def test_extreme_decays_and_keys_stay_finite_and_right(form: Op, w: float, keys: float) -> None:
    inputs = draw(2, 33, keys=keys)
    inputs[0] = torch.full_like(inputs[0], w)
    judges = with_gradients(wkv_loop, inputs)
    for ours, judge in zip(with_gradients(form, inputs), judges, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, judge, rtol=1e-7, atol=1e-9)
    for ours in with_gradients(form, [x.float() for x in inputs]):
        assert ours.isfinite().all()


@pytest.mark.parametrize("form", [wkv_torch, wkv_numba, wkv_loop])
def test_single_precision_stays_close_to_double(form: Op) -> None:
    inputs = draw(4, 200, 19, keys=3.0)
    single = with_gradients(form, [x.float() for x in inputs])
    for ours, exact in zip(single, with_gradients(wkv_loop, inputs), strict=True):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", [wkv_torch, wkv_numba])
@pytest.mark.parametrize("which", [2, 3])
def test_what_is_not_a_number_is_not_hidden(form: Op, which: int) -> None:
    inputs = [x.float() for x in draw(1, 9, 16)]
    inputs[which][0, 4] = torch.nan
    y = form(*inputs)
    assert y[0, :4].isfinite().all()
    assert y[0, 4:].isnan().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_number_of_threads_changes_no_bit(dtype: torch.dtype, threads: Callable[[int], None]) -> None:
    inputs = [x.to(dtype) for x in draw(5, 21, 19)]
    results = []
    for n in (1, 2, 3):
        threads(n)
        results.append(with_gradients(wkv_numba, inputs))
        results[-1] += with_gradients(token_shift_numba, [inputs[3], inputs[1]])
        results[-1] += with_gradients(sigmoid_gate_numba, inputs[2:])
        assert torch.get_num_threads() == n
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(other, results[0], strict=True))


@pytest.mark.parametrize("length", [1, 2, 7, 33])
@pytest.mark.parametrize("form", [token_shift_torch, token_shift_numba])
def test_the_token_shift_blends_each_token_with_the_one_before(
    form: Callable[[Tensor, Tensor], Tensor], length: int
) -> None:
    def loop(x: Tensor, mu: Tensor) -> Tensor:
        past = [torch.zeros_like(x[:, 0]), *x.unbind(1)]
        return torch.stack([mu * x[:, t] + (1 - mu) * past[t] for t in range(x.shape[1])], dim=1)

    _, mu, x, _ = draw(3, length)
    for ours, judge in zip(with_gradients(form, [x, mu]), with_gradients(loop, [x, mu]), strict=True):
        torch.testing.assert_close(ours, judge, **EXACT)


@pytest.mark.parametrize("size", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_compiled_gate_equals_the_sigmoid(size: float, dtype: torch.dtype) -> None:
    r, x = (y.to(dtype) for y in draw(3, 7, keys=size)[2:])
    for ours, judge in zip(
        with_gradients(sigmoid_gate_numba, [r, x]), with_gradients(sigmoid_gate_torch, [r, x]), strict=True
    ):
        torch.testing.assert_close(ours, judge)


def test_inputs_need_not_lie_contiguously() -> None:
    w, u, k, v = draw(2, 7)
    strange = k.transpose(1, 2).contiguous().transpose(1, 2)
    torch.testing.assert_close(wkv_numba(w, u, strange, v), wkv_loop(w, u, k, v), **EXACT)
    torch.testing.assert_close(token_shift_numba(strange, u), token_shift_torch(k, u), **EXACT)
    torch.testing.assert_close(sigmoid_gate_numba(strange, v), sigmoid_gate_torch(k, v), **EXACT)


@pytest.mark.parametrize("kernel", ["numba", "torch", "loop"])
def test_it_runs_under_autocast(kernel: str) -> None:
    torch.manual_seed(0)
    mixer, x = build_mixer("rwkv4", d_model=8, kernel=kernel), torch.randn(2, 5, 8)
    with torch.no_grad():
        for p in mixer.parameters():
            p.add_(0.1 * torch.randn_like(p))
    with torch.autocast("cpu", torch.bfloat16):
        y = mixer(x.bfloat16())
    y.float().sum().backward()
    torch.testing.assert_close(y.float(), mixer(x), rtol=0.1, atol=0.1)
