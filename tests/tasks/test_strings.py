"""Copying and lookup: formats, unique n-grams, duplicates, packing, scores, and what is refused."""

import importlib
import math
from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.errors import BadInput
from recollect.spec.compose import make_spec
from recollect.spec.tasks.strings import CopyOptions
from recollect.tasks import IGNORED, Batch, build_task
from recollect.tasks.ngrams import askable, codes, occurrences, replace
from recollect.tasks.streams import generator
from recollect.tasks.strings import LETTER, Examples, join, pack
from recollect.training.feed import place
from recollect.training.model import build_model
from recollect.training.trainer import evaluate, tally

LOOKUPS = ("prefix_ngram", "suffix_ngram")


def spell(tokens: Iterable[int]) -> str:
    """Tokens as text: `$dog|dog.`."""
    return "".join(f"*$|.{ascii_lowercase}"[token] for token in tokens)


def drawn(name: str, rows: int = 2000, **options: Any) -> list[str]:
    """Examples as text, one a row."""
    task = build_task(name, test_rows=rows, **options)
    return [spell(row).rstrip("*") for row in task.evaluation("test", 0).tokens]


def times(gram: str, string: str) -> int:
    """How often it begins in the string, overlaps included."""
    return sum(string.startswith(gram, i) for i in range(len(string)))


def test_examples_have_the_four_formats() -> None:
    for text in drawn("copy"):
        string, again = text[1:-1].split("|")
        assert text == f"${string}|{string}." == f"${again}|{again}."
    for text in drawn("prefix_ngram", n_gram=3):
        gram, string, answer = text[1:-1].split("|")
        assert text == f"${gram}|{string}|{answer}."
        assert len(gram) == 3
        assert string.endswith(gram + answer)
        assert answer
    for text in drawn("suffix_ngram", n_gram=3):
        string, asked = text[1:-1].split("|")
        assert text == f"${string}|{asked}."
        assert string.endswith(asked)
        assert len(asked) > 3


@pytest.mark.parametrize("name", LOOKUPS)
@pytest.mark.parametrize(
    ("n_letters", "n", "longest"), [(26, 1, 60), (26, 2, 100), (2, 6, 100), (3, 2, 20), (26, 9, 12)]
)
def test_a_lookup_n_gram_occurs_exactly_once(name: str, n_letters: int, n: int, longest: int) -> None:
    sizes = {"min_length": n + 1, "max_length": longest, "context": 300, "eval_lengths": (n + 1, longest)}
    for text in drawn(name, 4000, n_letters=n_letters, n_gram=n, **sizes):
        first, second, *_ = text[1:-1].split("|")
        gram, string = (first, second) if name == "prefix_ngram" else (second[:n], first)
        assert times(gram, string) == 1


@pytest.mark.parametrize("name", LOOKUPS)
def test_all_places_of_a_lookup_are_asked(name: str) -> None:
    sizes = {"min_length": 8, "max_length": 8, "eval_lengths": (8,)}
    answers = [text[1:-1].split("|")[-1] for text in drawn(name, 8000, n_gram=2, **sizes)]
    lengths = np.bincount([len(answer) - 2 * (name == "suffix_ngram") for answer in answers], minlength=7)
    assert lengths[0] == 0
    np.testing.assert_allclose(lengths[1:] / 8000, 1 / 6, atol=0.02)
    np.testing.assert_allclose(build_task(name, n_gram=2, **sizes).answer_odds(), [0, *[1 / 6] * 6])


@pytest.mark.parametrize(("n_letters", "n"), [(26, 2), (26, 4), (2, 2), (3, 1)])
def test_a_duplicate_n_gram_occurs_twice(n_letters: int, n: int) -> None:
    sizes = {"min_length": 2 * n, "max_length": 20, "eval_lengths": (20,)}
    for text in drawn("duplicate_ngram", n_letters=n_letters, n_gram=n, **sizes):
        string, again = text[1:-1].split("|")
        assert string == again
        assert max(times(string[i : i + n], string) for i in range(len(string) - n + 1)) >= 2


def test_copying_is_judged_on_duplicates() -> None:
    task = build_task("copy", eval_duplicates=(2, 4), max_length=12)
    assert task.evaluations()[-2:] == ("duplicate=2", "duplicate=4")
    strings = [spell(row)[1:13] for row in task.evaluation("duplicate=4", 0).tokens]
    assert all(max(times(s[i : i + 4], s) for i in range(9)) >= 2 for s in strings)


letters = st.lists(st.integers(LETTER, LETTER + 2), min_size=6, max_size=14)


@settings(max_examples=200, deadline=None)
@given(letters, st.integers(1, 3), st.data())
def test_n_grams_are_found_and_replaced_as_python_does(string: list[int], n: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(n + 1, len(string)))
    rows, lengths = np.array([string], np.int32), np.array([size])
    text = spell(string[:size])
    grams = [text[i : i + n] for i in range(size - n + 1)]
    expected = [i < size - n and times(gram, text) == 1 for i, gram in enumerate(grams)]
    assert askable(rows, lengths, n)[0, : len(grams)].tolist() == expected
    assert not askable(rows, lengths, n)[0, len(grams) :].any()
    assert len(set(codes(rows[:, :size], n)[0].tolist())) == len(set(grams))
    old, new = (data.draw(st.integers(0, size - n)) for _ in "ab")
    gone, put = rows[:, old : old + n], rows[:, new : new + n]
    assert spell(replace(rows, lengths, gone, put)[0, :size]) == text.replace(grams[old], grams[new])
    assert occurrences(rows, lengths, put)[0] == times(grams[new], text)


def test_long_n_grams_are_counted_without_overflow() -> None:
    last = np.full((1, 13), LETTER + 25, np.int32)
    assert codes(last, 13).tolist() == [[26**13 - 1]]


def test_rows_hold_whole_examples_as_long_as_they_fit() -> None:
    task = build_task("copy", min_length=3, max_length=8, context=40, eval_lengths=(3,))
    rows = [spell(row) for row in task.draw(generator(0, "data"), 3000).tokens]
    for row in rows:
        text = row.rstrip("*")
        assert text.endswith(".")
        assert all(part.count("|") == 1 for part in text.split(".")[:-1])
        assert len(row) == 40
        assert len(row) - len(text) < 2 * 8 + 3
    lengths = np.bincount([len(row.split("|")[0]) - 1 for row in rows], minlength=9)
    np.testing.assert_allclose(lengths[3:] / 3000, 1 / 6, atol=0.03)


def test_packing_numbers_the_strings_of_a_row() -> None:
    tokens, size = join([(np.array([[1, 4, 2, 4, 3], [1, 5, 2, 5, 3], [1, 6, 2, 6, 3]], np.int32), np.full(3, 5))])
    rows, at, target, string = pack(Examples(tokens, size, np.full(3, 2)), 3, 12)
    assert [spell(row) for row in rows] == ["$a|a.$b|b.**"]
    assert at.tolist() == [[2, 3, 7, 8, 0, 0]]
    assert target.tolist() == [[4, 3, 5, 3, IGNORED, IGNORED]]
    assert string[0, :4].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("module", ["strings", "copy", "prefix_ngram", "suffix_ngram", "duplicate_ngram"])
def test_the_example_in_the_docstring_has_its_targets_where_they_are_asked(module: str) -> None:
    lines = (importlib.import_module(f"recollect.tasks.{module}").__doc__ or "").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("    $"))
    row, asked = lines[first][4:].split("  ")[0], lines[first + 1][4:].split("  targets")[0].rstrip()
    assert "." in asked
    for i, letter in enumerate(asked):
        assert letter in (" ", row[i + 1])


def test_a_string_is_right_when_all_its_answers_are() -> None:
    at = np.zeros((2, 4), np.int32)
    target = np.array([[5, 3, 6, 3], [5, 3, IGNORED, IGNORED]], np.int32)
    right = torch.tensor([[True, True, True, False], [True, True, False, False]])
    grouped = Batch(at, at, target, np.array([[0, 0, 1, 1], [0, 0, 0, 0]], np.int32))
    for batch, whole, strings in ((grouped, 2, 3), (Batch(at, at, target), 5, 6)):
        rows = place(batch, torch.device("cpu"))
        assert (int(tally(right, rows)), rows.strings) == (whole, strings)


def test_an_evaluation_says_string_and_character_accuracy() -> None:
    spec = make_spec("copy", "attention", {"task.eval_rows": 30, "model.d_model": 16})
    torch.manual_seed(0)
    model, batch = build_model(spec).eval(), build_task("copy", max_length=15, eval_lengths=(5,)).evaluation("test", 0)
    with torch.no_grad():
        said = model(torch.from_numpy(batch.tokens).long(), torch.from_numpy(batch.at).long()).argmax(-1).numpy()
    known = batch.target != IGNORED
    hit = (said == batch.target) & known
    score = evaluate(model, batch, spec)
    assert score.characters == pytest.approx(hit.sum() / known.sum())
    assert score.accuracy == pytest.approx(np.mean((hit | ~known).all(1)))
    ended = np.array([[0, 1, 2]] * 3, np.int32)
    assert evaluate(model, Batch(ended, ended, ended), spec).characters is None


def test_floors_are_what_a_guesser_reaches() -> None:
    sizes = {"n_letters": 2, "min_length": 3, "max_length": 5, "context": 40, "n_gram": 2, "eval_lengths": (5,)}
    task = build_task("suffix_ngram", **sizes, test_rows=40_000)
    batch = task.evaluation("test", 0)
    known, rng = batch.target != IGNORED, np.random.default_rng(0)
    guess = np.where(batch.target >= LETTER, rng.integers(LETTER, LETTER + 2, size=batch.target.shape), batch.target)
    hit = guess == batch.target
    assert (hit | ~known).all(1).mean() == pytest.approx(task.floors()["guessed letters"], abs=0.02)
    assert hit[known].mean() == pytest.approx(task.answer_floors()["guessed letters, known end"], abs=0.02)


def test_the_longest_row_bounds_all_rows() -> None:
    for name in ("copy", *LOOKUPS):
        task = build_task(name, min_length=5, max_length=9, context=30, eval_lengths=(5, 60))
        assert task.evaluation("length=60", 0).tokens.shape[1] == task.length
        assert task.draw(generator(0, "data"), 4).tokens.shape[1] == 30
    assert CopyOptions(eval_lengths=()).length == 220
    assert math.isclose(sum(build_task("copy").answer_odds()), 1)


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "lengths upside down": ("copy", {"min_length": 9, "max_length": 5}, "max_length must be >= min_length 9"),
    "a context that is too short": ("copy", {"max_length": 300}, ">= 603 tokens (got 220)"),
    "the same length twice": ("copy", {"eval_lengths": (5, 5)}, "eval_lengths must differ"),
    "no room for a duplicate": ("copy", {"eval_duplicates": (11,)}, "need 22 letters (got 20)"),
    "no room for a duplicate in a short string": ("duplicate_ngram", {"n_gram": 3}, "need 6 letters (got 5)"),
    "no room for an answer": ("suffix_ngram", {"n_gram": 5}, "more than n_gram 5 letters (got 5)"),
    "no unique n-gram": ("prefix_ngram", {"n_letters": 2, "n_gram": 1}, "n_gram >= 4"),
    "an n-gram beyond counting": (
        "suffix_ngram",
        {"n_gram": 14, "min_length": 20, "eval_lengths": (20,)},
        "n_gram must be <= 13",
    ),
    "an alphabet of one": ("copy", {"n_letters": 1}, "greater than or equal to 2"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_drawn_is_refused_in_one_sentence(case: str) -> None:
    name, options, expected = REFUSED[case]
    with pytest.raises(BadInput) as caught:
        build_task(name, **options)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("n_letters", "length"), [(2, 60), (5, 60), (26, 400), (2, 400)])
def test_the_smallest_n_gram_that_is_not_refused_is_drawn(n_letters: int, length: int) -> None:
    sizes: dict[str, Any] = {"n_letters": n_letters, "max_length": length, "context": 900, "eval_lengths": (length,)}
    with pytest.raises(BadInput, match="hardly any n-gram of 1 occurs only once") as caught:
        build_task("suffix_ngram", **sizes, n_gram=1)
    n = int(str(caught.value).partition("n_gram >= ")[2].partition(",")[0])
    task = build_task("suffix_ngram", **sizes, n_gram=n, min_length=n + 1)
    assert len(task.evaluation(f"length={length}", 0)) == 200


def test_training_on_duplicates_is_refused() -> None:
    with pytest.raises(BadInput, match="for evaluation only; train on copy"):
        make_spec("duplicate_ngram", "attention")
