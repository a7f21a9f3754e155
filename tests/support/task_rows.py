"""The rows of the task contract: every task, and every option whose code path differs."""

from typing import Any

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


def label(value: Any) -> str:
    """A readable test name."""
    return value if isinstance(value, str) else str(value)[:60]
