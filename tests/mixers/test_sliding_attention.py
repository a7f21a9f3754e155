"""Sliding-window attention against torch's own under a band mask, and its two forms against each other."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.mixers import build_mixer
from recollect.mixers.parts import join_heads, split_heads
from recollect.mixers.sliding_attention import SlidingAttention
from recollect.ops.rotary import rotate
from recollect.ops.window_attention import block_size, window_attention_loop, window_blocks

D, LONG = 16, 300
EXACT = {"rtol": 1e-9, "atol": 1e-11}


def build(window: int, n_heads: int = 2, positions: str = "none", kernel: str = "numba") -> SlidingAttention:
    torch.manual_seed(0)
    made = build_mixer(
        "sliding_attention", d_model=D, window=window, n_heads=n_heads, positions=positions, kernel=kernel
    ).double()
    assert isinstance(made, SlidingAttention)
    return made


def draw(length: int) -> Tensor:
    g = torch.Generator().manual_seed(1)
    return torch.randn(2, length, D, dtype=torch.float64, generator=g).requires_grad_()


def oracle(mixer: SlidingAttention, x: Tensor) -> Tensor:
    q, k, v = (split_heads(p(x), mixer.n_heads) for p in (mixer.q_proj, mixer.k_proj, mixer.v_proj))
    if mixer.options.positions == "rope":
        q, k = rotate(q), rotate(k)
    ones = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
    band = ones.tril() & ones.triu(1 - mixer.window)
    out: Tensor = mixer.out_proj(join_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=band)))
    return out


def gradients(y: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    direction = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(2))
    return list(torch.autograd.grad((y * direction).sum(), inputs))


@pytest.mark.parametrize("positions", ["none", "rope"])
@pytest.mark.parametrize("window", [1, 4, 33, 400])
@pytest.mark.parametrize("length", [1, 7, 33, LONG])
def test_it_equals_torch_under_a_band_mask_with_all_gradients(length: int, window: int, positions: str) -> None:
    mixer, x = build(window, positions=positions), draw(length)
    y, judge, inputs = mixer(x), oracle(mixer, x), [x, *mixer.parameters()]
    torch.testing.assert_close(y, judge, **EXACT)
    for ours, theirs in zip(gradients(y, inputs), gradients(judge, inputs), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("window", [1, 2, 8, 16, 17, 40])
@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 33, 100])
def test_blocks_equal_the_masked_matrix_with_gradients(length: int, window: int) -> None:
    g = torch.Generator().manual_seed(3)
    qkv = [torch.randn(2, 3, length, 4, dtype=torch.float64, generator=g).requires_grad_() for _ in range(3)]
    q, k, v = qkv
    y, judge = window_blocks(q, k, v, window), window_attention_loop(q, k, v, window)
    torch.testing.assert_close(y, judge, **EXACT)
    for ours, theirs in zip(gradients(y, qkv), gradients(judge, qkv), strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


@pytest.mark.parametrize("positions", ["none", "rope"])
@pytest.mark.parametrize("asked", [3, 250])
def test_asked_rows_of_a_long_row_equal_the_full_computation(asked: int, positions: str) -> None:
    mixer, x = build(8, positions=positions), draw(LONG)
    at = torch.randint(LONG, (2, asked), generator=torch.Generator().manual_seed(4))
    full, rows = torch.take_along_dim(mixer(x), at.unsqueeze(-1), dim=1), mixer(x, at)
    inputs = [x, *mixer.parameters()]
    torch.testing.assert_close(rows, full, **EXACT)
    for ours, theirs in zip(gradients(rows, inputs), gradients(full, inputs), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("asked", [None, 4000])
def test_a_long_row_never_makes_a_square_matrix(asked: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    length, largest, softmax = 4096, 0, Tensor.softmax

    def watched(scores: Tensor, dim: int) -> Tensor:
        nonlocal largest
        largest = max(largest, scores.numel())
        return softmax(scores, dim)

    monkeypatch.setattr(Tensor, "softmax", watched)
    at = None if asked is None else torch.arange(asked).expand(2, -1)
    with torch.no_grad():
        build(8, n_heads=1)(draw(length), at)
    assert 0 < largest <= 2 * length * (block_size(8) + 8)


def test_it_remembers_what_the_next_token_will_see() -> None:
    mixer = build(8)
    assert mixer.state_size(100) == 2 * 7 * D
    assert mixer.state_size(3) == 2 * 3 * D


@pytest.mark.parametrize(("name", "d_model"), [("sliding_attention", 7), ("rwkv4", 7), ("lstm", 7)])
def test_rotary_positions_on_an_odd_width_are_refused(name: str, d_model: int) -> None:
    with pytest.raises(BadInput, match=r"rope needs an even .*got 7"):
        build_mixer(name, d_model=d_model, positions="rope")
