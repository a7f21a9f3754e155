"""Options of the tasks about strings: copying and lookup."""

import math
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from recollect.spec.tasks.options import TaskOptions


class StringOptions(TaskOptions):
    """Strings of letters, several examples packed into a row; judged on one example a row."""

    n_letters: int = Field(26, ge=2, description="letters of the alphabet; four more tokens mark $ | . and padding")
    min_length: PositiveInt = Field(5, description="letters of the shortest string")
    max_length: PositiveInt = Field(20, description="letters of the longest string that is trained on")
    context: PositiveInt = Field(220, description="tokens in a training row: whole examples, then padding")
    eval_lengths: tuple[PositiveInt, ...] = Field(
        (5, 10, 15, 20, 30, 50, 100), description="string lengths that the trained model is judged on, one by one"
    )
    eval_rows: PositiveInt = Field(200, description="strings of each of those lengths")

    name: str

    @property
    def vocab_size(self) -> int:
        """Letters, and the four marks."""
        return self.n_letters + 4

    @property
    def length(self) -> int:
        """The longest row, in training or evaluation."""
        return max(self.context, self.longest(max(self.max_length, *self.eval_lengths, 0)))

    def longest(self, letters: int) -> int:
        """Tokens of the longest example about a string of so many letters: `$S|S.`."""
        return 2 * letters + 3

    def shortest(self) -> int:
        """Tokens of the shortest example that is trained on."""
        return self.longest(self.min_length)

    def short(self) -> str:
        """copy, 26 letters, lengths 5-20."""
        return f"{self.name}, {self.n_letters} letters, lengths {self.min_length}-{self.max_length}"

    @model_validator(mode="after")
    def fits_a_row(self) -> "StringOptions":
        """Refuse lengths that are upside down or do not fit the context."""
        if self.max_length < self.min_length:
            raise ValueError(f"max_length must be >= min_length {self.min_length} (got {self.max_length})")
        if self.longest(self.max_length) > self.context:
            raise ValueError(
                f"context must hold an example of max_length {self.max_length}: >= {self.longest(self.max_length)} "
                f"tokens (got {self.context})"
            )
        if len(set(self.eval_lengths)) < len(self.eval_lengths):
            raise ValueError(f"eval_lengths must differ (got {', '.join(map(str, self.eval_lengths))})")
        return self


def holds_two(n_gram: int, letters: int, where: str) -> None:
    """Refuse strings in which an n-gram and its copy cannot stand side by side."""
    if 2 * n_gram > letters:
        raise ValueError(f"{where}: an n-gram of {n_gram} and its copy need {2 * n_gram} letters (got {letters})")


class CopyOptions(StringOptions):
    """Copying: a whole string is repeated behind a mark (Jelassi et al. 2024)."""

    name: Literal["copy"] = "copy"
    eval_duplicates: tuple[PositiveInt, ...] = Field(
        (2,), description="judged also on strings in which an n-gram of these sizes occurs twice (duplicate_ngram)"
    )

    @model_validator(mode="after")
    def holds_duplicates(self) -> "CopyOptions":
        """The strings of max_length must have room for them."""
        for n in self.eval_duplicates:
            holds_two(n, self.max_length, "eval_duplicates")
        return self


RARE = 0.1
"""Fewer n-grams than this in a string that can be asked, and drawing anew until there is one takes too long."""


class NgramOptions(StringOptions):
    """Lookup: what follows an n-gram that occurs in the string exactly once."""

    n_gram: PositiveInt = Field(2, description="n, letters of the n-gram that is looked up")

    def shortest(self) -> int:
        """The answer has one letter."""
        return self.min_length + self.n_gram + 4

    def short(self) -> str:
        """suffix_ngram n=2, 26 letters, lengths 5-20."""
        return f"{self.name} n={self.n_gram}, {self.n_letters} letters, lengths {self.min_length}-{self.max_length}"

    @model_validator(mode="after")
    def can_be_asked(self) -> "NgramOptions":
        """An answer needs a letter behind the n-gram, and the n-gram a fair chance to be alone."""
        n, lengths = self.n_gram, (self.min_length, self.max_length, *self.eval_lengths)
        if min(lengths) <= n:
            raise ValueError(f"every string needs more than n_gram {n} letters (got {min(lengths)})")
        if self.n_letters**n >= 2**63:
            raise ValueError(f"n_gram must be <= {int(63 / math.log2(self.n_letters))} at this alphabet (got {n})")
        if self.alone(n, longest := max(lengths)) < RARE:
            enough = next(m for m in range(n, longest) if self.alone(m, longest) >= RARE)
            raise ValueError(
                f"in {longest} letters of an alphabet of {self.n_letters} hardly any n-gram of {n} occurs only once; "
                f"n_gram >= {enough}, more letters or shorter strings"
            )
        return self

    def alone(self, n: int, letters: int) -> float:
        """About how many n-grams of a random string can be asked: they occur once and are not its end."""
        return (letters - n) * float(1 - self.n_letters**-n) ** (letters - n)


class PrefixNgramOptions(NgramOptions):
    """Lookup, the n-gram first: it, the string, then what follows it there (Jelassi et al. 2024)."""

    name: Literal["prefix_ngram"] = "prefix_ngram"

    def longest(self, letters: int) -> int:
        """`$g|S|A.` with the n-gram at the very beginning of S."""
        return 2 * letters + 4


class SuffixNgramOptions(NgramOptions):
    """Lookup, the n-gram last: the string, it, then what follows it there (Jelassi et al. 2024)."""

    name: Literal["suffix_ngram"] = "suffix_ngram"


class DuplicateNgramOptions(StringOptions):
    """Copying strings in which one n-gram has replaced another; for evaluation only (Jelassi et al. 2024)."""

    only_judged: ClassVar[str] = "train on copy, which task.eval_duplicates judges on it"
    name: Literal["duplicate_ngram"] = "duplicate_ngram"
    n_gram: PositiveInt = Field(2, description="n, letters of the n-gram that occurs twice")

    def short(self) -> str:
        """duplicate_ngram n=2, 26 letters, lengths 5-20."""
        return f"{self.name} n={self.n_gram}, {self.n_letters} letters, lengths {self.min_length}-{self.max_length}"

    @model_validator(mode="after")
    def holds_duplicates(self) -> "DuplicateNgramOptions":
        """Every string must have room for both."""
        holds_two(self.n_gram, min(self.min_length, *self.eval_lengths, self.max_length), "n_gram")
        return self
