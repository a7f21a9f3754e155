"""Attention against other people's: torch.nn.MultiheadAttention, transformers' RoPE and T5 bias."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb
from transformers.models.t5.configuration_t5 import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from recollect.mixers import build_mixer
from recollect.mixers.attention import Attention, t5_bucket
from recollect.ops.rotary import rotate

B, L, D, H = 2, 40, 16, 4


def attention(**options: object) -> Attention:
    torch.manual_seed(0)
    made = build_mixer("attention", d_model=D, length=L, n_heads=H, **options).double()
    assert isinstance(made, Attention)
    return made


@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_multihead_attention_with_all_gradients(bias: bool) -> None:
    ours = attention(bias=bias)
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
        theirs.out_proj.weight.copy_(ours.out_proj.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([p.bias for p in (ours.q_proj, ours.k_proj, ours.v_proj)]))
            theirs.out_proj.bias.copy_(ours.out_proj.bias)
    x = torch.randn(B, L, D, dtype=torch.float64, requires_grad=True)
    mask = nn.Transformer.generate_square_subsequent_mask(L, dtype=torch.float64)
    y, (z, _) = ours(x), theirs(x, x, x, attn_mask=mask, need_weights=False)
    torch.testing.assert_close(y, z)
    seed = torch.randn_like(y)
    dx, *dours = torch.autograd.grad((y * seed).sum(), [x, ours.q_proj.weight, ours.k_proj.weight, ours.v_proj.weight])
    dz, dtheirs = torch.autograd.grad((z * seed).sum(), [x, theirs.in_proj_weight])
    torch.testing.assert_close(dx, dz)
    torch.testing.assert_close(torch.cat(dours), dtheirs)


def test_rope_equals_llamas() -> None:
    torch.manual_seed(0)
    P = D // H
    q, k = torch.randn(2, B, H, L, P, dtype=torch.float64)
    angle = torch.outer(torch.arange(L).double(), 10000.0 ** (-torch.arange(0, P, 2).double() / P))
    cos, sin = (torch.cat([f(angle)] * 2, dim=-1).expand(B, L, P) for f in (torch.cos, torch.sin))
    for ours, theirs in zip((rotate(q), rotate(k)), apply_rotary_pos_emb(q, k, cos, sin), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_rope_scores_depend_on_the_distance_alone() -> None:
    q, k = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)
    scores = [(rotate(q, torch.tensor([i])) * rotate(k, torch.tensor([i - 3]))).sum() for i in (3, 10, 31)]
    torch.testing.assert_close(scores[0], scores[1])
    torch.testing.assert_close(scores[0], scores[2])


def test_t5_bias_and_unscaled_scores_equal_transformers() -> None:
    config = T5Config(d_model=D, num_heads=H, d_kv=D // H, is_decoder=True, dropout_rate=0.0, use_cache=False)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).double()
    ours = attention(positions="t5", bias=False)
    with torch.no_grad():
        ours.bias_table.copy_(torch.randn_like(ours.bias_table))
        theirs.relative_attention_bias.weight.copy_(ours.bias_table)
        for mine, name in ((ours.q_proj, "q"), (ours.k_proj, "k"), (ours.v_proj, "v"), (ours.out_proj, "o")):
            getattr(theirs, name).weight.copy_(mine.weight)
    x = torch.randn(B, L, D, dtype=torch.float64)
    bias = theirs.compute_bias(L, L).double()
    distance = torch.arange(L).unsqueeze(1) - torch.arange(L)
    causal = distance >= 0
    torch.testing.assert_close(
        ours.bias_table[t5_bucket(distance)].movedim(-1, 0)[:, causal], bias[0][:, causal], check_dtype=False
    )
    mask = torch.zeros(1, 1, L, L, dtype=torch.float64).masked_fill(~causal, torch.finfo(torch.float64).min)
    torch.testing.assert_close(ours(x), theirs(x, mask=mask)[0])


def test_distant_t5_buckets_equal_transformers() -> None:
    distance = torch.arange(0, 400)
    theirs = T5Attention._relative_position_bucket(-distance, bidirectional=False, num_buckets=32, max_distance=128)
    assert torch.equal(t5_bucket(distance), theirs)


def test_alibi_is_a_penalty_on_distance() -> None:
    ours = attention(positions="alibi")
    x = torch.randn(B, L, D, dtype=torch.float64)
    q, k, v = (p(x).unflatten(-1, (H, -1)).transpose(1, 2) for p in (ours.q_proj, ours.k_proj, ours.v_proj))
    i, j = torch.arange(L).unsqueeze(1), torch.arange(L)
    slopes = 2.0 ** (-8 * torch.arange(1, H + 1, dtype=torch.float64) / H)
    mask = (-slopes.view(-1, 1, 1) * (i - j)).masked_fill(j > i, -torch.inf)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(ours(x), ours.out_proj(y.transpose(1, 2).flatten(-2)))


def test_hard_alibi_hides_what_is_too_far_for_half_of_the_heads() -> None:
    ours = attention(positions="hard_alibi")
    x = torch.randn(B, L, D, dtype=torch.float64)
    q, k, v = (p(x).unflatten(-1, (H, -1)).transpose(1, 2) for p in (ours.q_proj, ours.k_proj, ours.v_proj))
    distance = torch.arange(L).unsqueeze(1) - torch.arange(L)
    seen = torch.stack([(distance >= 0) & (distance <= reach) for reach in (1, 2, L, L)])
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    torch.testing.assert_close(ours(x), ours.out_proj(y.transpose(1, 2).flatten(-2)))
    assert ours.state_size(L) == 2 * (1 + 2 + L + L) * (D // H)
    assert ours.state_size(1) == 2 * D


@pytest.mark.parametrize(("conv_at", "seen"), [("before", 1), ("input", 1), ("after", 2)])
def test_a_convolution_remembers_what_its_taps_see(conv_at: str, seen: int) -> None:
    plain, conv = (build_mixer("attention", d_model=D, conv=conv, conv_at=conv_at) for conv in ("none", "qk"))
    assert conv.state_size(L) - plain.state_size(L) == seen * 3 * D


@pytest.mark.parametrize("conv", ["q", "k", "v", "qk", "qv", "kv", "qkv"])
@pytest.mark.parametrize("place", ["before", "after", "input"])
def test_convolutions_stand_where_they_are_named(conv: str, place: str) -> None:
    ours = attention(conv=conv, conv_at=place)
    x = torch.randn(B, L, D, dtype=torch.float64)

    def convolve(y: torch.Tensor, name: str) -> torch.Tensor:
        if name not in conv:
            return y
        part = ours.convs["input" if place == "input" else name]
        padded = F.pad(y.transpose(1, 2), (part.weight.shape[1] - 1, 0))
        return F.conv1d(padded, part.weight.unsqueeze(1), part.bias, groups=D).transpose(1, 2)

    def branch(name: str, project: nn.Linear) -> torch.Tensor:
        y = convolve(project(x), name) if place == "after" else project(convolve(x, name))
        return y.unflatten(-1, (H, -1)).transpose(1, 2)

    q, k, v = branch("q", ours.q_proj), branch("k", ours.k_proj), branch("v", ours.v_proj)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(ours(x), ours.out_proj(y.transpose(1, 2).flatten(-2)))
    assert len(ours.convs) == (1 if place == "input" else len(conv))


def test_on_one_branch_alone_before_its_projection_is_on_the_shared_input() -> None:
    before, shared, after = (attention(conv="v", conv_at=place) for place in ("before", "input", "after"))
    x = torch.randn(B, L, D, dtype=torch.float64)
    assert torch.equal(before(x), shared(x))
    assert not torch.allclose(before(x), after(x))
