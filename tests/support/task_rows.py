"""The rows of the task contract: every task, and every option whose code path differs; and who answers each task.

An oracle knows the task and has seen the tokens up to a question; it says the answer.
"""

from collections.abc import Callable
from typing import Any

from recollect.tasks import Task
from recollect.tasks.strings import BEGIN, END, SEPARATOR

SMALL = {"vocab_size": 64, "length": 32, "n_pairs": 8}
SHORT = {"min_length": 5, "max_length": 15, "context": 64, "eval_lengths": (5, 30)}
ROWS: list[tuple[str, dict[str, Any]]] = [
    *[
        (name, {**SMALL, "vocabulary": vocabulary, "filler": filler})
        for name in ("mqar", "ar")
        for vocabulary in ("split", "shared")
        for filler in ("zero", "random", "random-clean")
    ],
    ("mqar", {"vocab_size": 8192, "length": 64, "n_pairs": 4}),
    ("mqar", {"vocab_size": 8192, "length": 512, "n_pairs": 64, "vocabulary": "shared", "filler": "random-clean"}),
    ("ar", {"vocab_size": 50, "length": 20, "n_pairs": 9}),
    ("copy", {}),
    ("copy", SHORT),
    ("copy", {"n_letters": 2, "min_length": 1, "max_length": 4, "context": 11, "eval_lengths": (1, 9)}),
    ("prefix_ngram", {}),
    ("prefix_ngram", {**SHORT, "n_gram": 1}),
    ("suffix_ngram", {}),
    ("suffix_ngram", {**SHORT, "n_letters": 4, "n_gram": 3}),
    ("duplicate_ngram", {}),
    ("duplicate_ngram", {**SHORT, "n_letters": 2, "n_gram": 1}),
]

RECALL = [row for row in ROWS if row[0] in ("mqar", "ar")]


def recall(seen: list[int], task: Task) -> int:
    """Look the key up among the pairs."""
    n_pairs = task.options.model_dump()["n_pairs"]
    return {seen[2 * j]: seen[2 * j + 1] for j in range(n_pairs)}[seen[-1]]


def last_example(seen: list[int]) -> list[list[int]]:
    """What stands between the marks of the example that is under way."""
    begun = max(i for i, token in enumerate(seen) if token == BEGIN)
    parts: list[list[int]] = [[]]
    for token in seen[begun + 1 :]:
        parts[-1].append(token) if token != SEPARATOR else parts.append([])
    return parts


def next_of(whole: list[int], said: list[int]) -> int:
    """The next letter, or the full stop."""
    assert whole[: len(said)] == said
    return whole[len(said)] if len(said) < len(whole) else END


def what_follows(gram: list[int], string: list[int]) -> list[int]:
    """The rest of the string behind the one place of the n-gram."""
    (place,) = (i for i in range(len(string)) if string[i : i + len(gram)] == gram)
    return string[place + len(gram) :]


def copy(seen: list[int], task: Task) -> int:
    """Say the string again."""
    string, said = last_example(seen)
    return next_of(string, said)


def prefix(seen: list[int], task: Task) -> int:
    """Look up the n-gram that came first."""
    gram, string, said = last_example(seen)
    return next_of(what_follows(gram, string), said)


def suffix(seen: list[int], task: Task) -> int:
    """Look up the n-gram that came last."""
    n = task.options.model_dump()["n_gram"]
    string, said = last_example(seen)
    return next_of(what_follows(said[:n], string), said[n:])


ORACLES: dict[str, Callable[[list[int], Task], int]] = {
    "mqar": recall,
    "ar": recall,
    "copy": copy,
    "prefix_ngram": prefix,
    "suffix_ngram": suffix,
    "duplicate_ngram": copy,
}


def label(value: Any) -> str:
    """A readable test name."""
    return value if isinstance(value, str) else str(value)[:60]
