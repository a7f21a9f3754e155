"""Scores of mixing matrices: what is wired scores, what is uniform scores what arithmetic says."""

import numpy as np
import pytest
import torch

from recollect.errors import BadInput
from recollect.inside.look import blocks, dependence, directions, gradients, take
from recollect.inside.scores import repeated, score_places, score_repeats
from recollect.mixers import Decaying, MatrixMixer, build_mixer
from recollect.mixers.attention import Attention
from recollect.ops.delta import delta_eigenvalues, delta_matrix
from recollect.tasks import Batch, Places, Task, build_task, make_task
from recollect.tasks.streams import generator
from recollect.training.execute import initial_model
from recollect.training.feed import place
from tests.support import wired
from tests.support.small import tiny

CPU = torch.device("cpu")


def rows(task: Task, count: int = 16) -> tuple[Batch, Places]:
    batch = task.draw(generator(0, "test"), count)
    return batch, task.places(batch)


@pytest.mark.parametrize("task", ["mqar", "ar"])
@pytest.mark.parametrize("vocabulary", ["split", "shared"])
def test_a_query_repeats_its_key_and_asks_for_the_value_behind_it(task: str, vocabulary: str) -> None:
    batch, places = rows(build_task(task, length=32, n_pairs=6, vocab_size=40, vocabulary=vocabulary))
    each = np.arange(len(batch))[:, None]
    np.testing.assert_array_equal(batch.tokens[each, places.queries], batch.tokens[each, places.key])
    np.testing.assert_array_equal(batch.target, batch.tokens[each, places.value])
    np.testing.assert_array_equal(places.values, places.keys + 1)


def test_a_task_without_pairs_says_so() -> None:
    task = build_task("copy")
    with pytest.raises(BadInput, match=r"^task copy: its rows have no keys and values"):
        task.places(task.draw(generator(0, "test"), 2))


def test_a_wired_induction_head_scores_as_one() -> None:
    model = wired.induction_head()
    batch, places = rows(make_task(wired.spec().task))
    before, found = (score_places(layer.M, places) for layer in take(model, place(batch, CPU).tokens))
    assert before["previous token"].best > 0.95
    assert found["induction"].best > 0.95
    assert found["value mass"].best > 0.95
    assert found["key lookup"].best < 0.05
    tokens = repeated(generator(0, "test"), 4, wired.L, wired.V)
    before, found = (score_repeats(layer.M, tokens) for layer in take(model, torch.from_numpy(tokens).long()))
    assert before["previous, anywhere"].best > 0.95
    assert found["prefix matching"].best > 0.95
    loss, right = model(place(batch, CPU).tokens, place(batch, CPU).at), place(batch, CPU).target
    assert (loss.argmax(-1) == right).all()


def test_uniform_attention_scores_what_arithmetic_says() -> None:
    spec = tiny()
    model = initial_model(spec).eval()
    attention = blocks(model)[0].mixer
    assert isinstance(attention, Attention)
    with torch.no_grad():
        attention.q_proj.weight.zero_()
        attention.q_proj.bias.zero_()
    batch, places = rows(make_task(spec.task))
    scores = score_places(take(model, place(batch, CPU).tokens)[0].M, places)
    seen = 1 / (places.queries + 1)
    expected = {"induction": seen.mean(), "key lookup": seen.mean(), "value mass": 2 * seen.mean()}
    expected["previous token"] = (1 / 2 + 1 / 4) / 2  # the values stand at 1 and 3
    for name, value in expected.items():
        assert scores[name].together == pytest.approx(value, rel=1e-6), name
        assert scores[name].chance == pytest.approx(value, rel=1e-12), name


def test_tokens_that_follow_each_other_by_chance_in_one_row_only_are_not_counted() -> None:
    tokens = np.array([[0, 0, 1, 2, 0, 0, 1, 2], [0, 1, 2, 3, 0, 1, 2, 3]], np.int32)
    M = np.zeros((2, 1, 8, 8))
    for q in range(4, 8):
        M[:, :, q, q - 3] = 1.0  # in both rows: what followed the token four places before
    assert score_repeats(M, tokens)["prefix matching"].together == 1.0
    assert score_repeats(M[::-1], tokens[::-1])["prefix matching"].together == 1.0


def test_uniform_attention_on_repeated_tokens_scores_what_arithmetic_says() -> None:
    tokens = np.tile(np.arange(2, dtype=np.int32), (1, 3))  # 0 1 0 1 0 1
    M = np.tril(np.ones((6, 6)))[None, None]
    scores = score_repeats(M, tokens)
    # Position i >= 2 sees those behind its own token: 1 of 3, 1 of 4, 2 of 5, 2 of 6; position 1 sees none.
    assert scores["prefix matching"].together == pytest.approx((1 / 3 + 1 / 4 + 2 / 5 + 2 / 6) / 4)
    assert scores["prefix matching"].chance == pytest.approx((1 / 3 + 1 / 4 + 2 / 5 + 2 / 6) / 4)
    assert scores["previous, anywhere"].together == pytest.approx(sum(1 / (i + 1) for i in range(1, 6)) / 5)


def test_signed_matrices_are_scored_by_absolute_mass() -> None:
    _, places = rows(build_task("mqar", length=8, n_pairs=2, vocab_size=20), 1)
    M = np.zeros((1, 2, 8, 8))
    M[0, :, places.queries[0], places.value[0]] = -3.0  # both heads
    M[0, 0, places.queries[0], 0] += 1.0
    heads = score_places(M, places)["induction"].heads
    assert heads[1] == 1
    assert heads[0] == pytest.approx(3 / 4)


def test_the_delta_rule_on_orthonormal_keys_has_the_matrix_that_is_known() -> None:
    order = torch.tensor([0, 1, 2, 1, 3])
    k = torch.eye(4, dtype=torch.float64)[order][None, None]
    q = torch.randn(1, 1, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    M = delta_matrix(q, k, torch.ones(1, 1, 5, dtype=torch.float64), None)[0, 0]
    expected = (q @ k.transpose(-1, -2))[0, 0].tril()
    expected[3:, 1] = 0  # token 3 has written over what token 1 had
    torch.testing.assert_close(M, expected, rtol=1e-12, atol=1e-12)


def test_the_eigenvalues_of_the_delta_rule_are_those_of_its_matrix() -> None:
    rng = torch.Generator().manual_seed(0)
    k = torch.randn(1, 1, 1, 4, dtype=torch.float64, generator=rng)
    beta, g = torch.tensor([[[0.7]]]).double(), torch.tensor([[[-0.3]]]).double()
    A = g.exp() * (torch.eye(4, dtype=torch.float64) - beta * k[0, 0].T @ k[0, 0])
    found = delta_eigenvalues(k, beta, g)[0, 0].sort().values
    torch.testing.assert_close(found, torch.linalg.eigvalsh(A[0]).sort().values)


@pytest.mark.parametrize(("name", "options"), [("mamba", {}), ("mamba2", {"head_dim": 4})])
def test_the_decay_of_a_state_space_model_is_that_of_its_mixing(name: str, options: dict[str, int]) -> None:
    torch.manual_seed(0)
    mixer = build_mixer(name, d_model=8, d_state=1, **options).double()
    x = torch.randn(2, 6, 8, dtype=torch.float64)
    assert isinstance(mixer, Decaying)
    assert isinstance(mixer, MatrixMixer)
    M, _ = mixer.mixing(x)
    # With one state, M_t0 / M_{t-1,0} is the decay at t times C_t / C_{t-1}, which all heads or channels share.
    shared = M[:, :, 4, 0] / M[:, :, 3, 0] / mixer.decays(x)[:, 4]
    assert shared.shape[1] > 1
    torch.testing.assert_close(shared, shared[:, :1].expand_as(shared))


def test_dependence_is_the_jacobian_block_by_block() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("lstm", d_model=3).double()
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    found = dependence(mixer, x, "layer 0")
    for row in range(2):
        whole = torch.autograd.functional.jacobian(lambda x: mixer(x[None])[0], x[row])  # (L, D, L, D)
        torch.testing.assert_close(found[row, 0], whole.square().sum((1, 3)).sqrt())
    assert found.triu(1).abs().max() == 0


def test_dependence_of_a_wide_mixer_is_estimated_along_few_directions() -> None:
    torch.manual_seed(0)
    mixer = build_mixer("lstm", d_model=32).double()
    x = torch.randn(4, 6, 32, dtype=torch.float64)
    found = dependence(mixer, x, "layer 0")[:, 0]
    whole = [torch.autograd.functional.jacobian(lambda x: mixer(x[None])[0], row) for row in x]
    exact = torch.stack([one.square().sum((1, 3)).sqrt() for one in whole])
    past = torch.ones(6, 6, dtype=torch.bool).tril()
    ratio = found[:, past] / exact[:, past]
    assert ratio.square().mean() == pytest.approx(1, abs=0.3)  # one rotation serves all positions
    assert (ratio - 1).abs().max() < 0.5
    share, right = (M / M.sum(-1, keepdim=True) for M in (found, exact))
    assert (share - right).abs().mean() < 0.02


def test_directions_are_orthogonal_and_none_is_missing_where_there_are_few() -> None:
    u = directions(32)
    torch.testing.assert_close(u @ u.T, torch.eye(len(u), dtype=torch.float64) * 32 / len(u))
    torch.testing.assert_close(directions(5).T @ directions(5), torch.eye(5, dtype=torch.float64))


class Opaque(torch.nn.Module):
    """One through which no gradient comes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach()


def test_a_mixer_that_cannot_be_taken_apart_is_one_sentence() -> None:
    with pytest.raises(BadInput, match=r"^layer 0: its mixer cannot be taken apart"):
        dependence(Opaque(), torch.randn(1, 3, 2), "layer 0")  # type: ignore[arg-type]


@pytest.mark.parametrize("mixer", ["attention", "mamba", "deltanet"])
def test_gradients_of_single_queries_add_up_and_are_the_loop_forms(mixer: str) -> None:
    found = {}
    for kernel in ("loop", "numba"):
        spec = tiny(mixer, compute__kernel=kernel, model__n_layers=2)
        batch, _ = rows(make_task(spec.task), 4)
        found[kernel] = gradients(initial_model(spec).double().eval(), place(batch, CPU))
    assert found["loop"].shape == (4, 2, 8)
    np.testing.assert_allclose(found["numba"], found["loop"], rtol=1e-6, atol=1e-9)
    late = np.arange(8) > batch.at[..., None]
    assert (found["loop"][late] == 0).all()
    assert (found["loop"][~late] > 0).all()
