"""Tasks about strings: examples end in their answer and are packed into rows.

    $abc|abc.$de|de.***        two examples of copying in a row of 19 tokens, then padding
        abc.    de.            targets: the answer and its full stop, each at the token before it

The tokens are `*` (padding), `$` (begin), `|` (separator), `.` (end) and the letters. A training row holds examples as
long as the next one fits whole; an evaluation row holds one. A string is right when all its answers are.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.spec.tasks.strings import StringOptions
from recollect.tasks.streams import generator
from recollect.tasks.task import IGNORED, Batch, Ints, Task

PAD, BEGIN, SEPARATOR, END, LETTER = range(5)
"""Token numbers; letters begin at the last."""
CHUNK = 2**20
"""Tokens of examples drawn at once: bounds the memory, whatever the number of rows."""

Counts = NDArray[np.int64]
Part = tuple[Ints, Counts]
"""Rows of tokens (E, W), and how many of each row count (E,)."""
Packed = tuple[Ints, Ints, Ints, Ints]
"""tokens, at, target, string of a batch."""


@dataclass(frozen=True)
class Examples:
    """Examples, and how many of the last tokens of each are answers."""

    tokens: Ints  # (E, W)
    size: Counts  # (E,)
    answers: Counts  # (E,)


class Strings(Task):
    """What a string is asked for is the subclass's choice."""

    options: StringOptions

    @abstractmethod
    def examples(self, rng: np.random.Generator, lengths: Counts) -> Examples:
        """One example per string length."""

    @abstractmethod
    def answer_odds(self) -> NDArray[np.float64]:
        """P(an answer has so many letters), from 0 on."""

    def draw(self, rng: np.random.Generator, rows: int) -> Batch:
        """Training rows of `context` tokens."""
        options = self.options
        per_row = options.context // options.shortest()
        at_once = max(1, CHUNK // (per_row * options.longest(options.max_length)))
        packed = []
        for start in range(0, rows, at_once):
            count = min(at_once, rows - start) * per_row
            lengths = rng.integers(options.min_length, options.max_length + 1, size=count)
            packed.append(pack(self.examples(rng, lengths), per_row, options.context))
        return as_batch(packed)

    def evaluations(self) -> tuple[str, ...]:
        return ("validation", "test", *(f"length={length}" for length in self.options.eval_lengths))

    def evaluation(self, name: str, seed: int) -> Batch:
        """One example a row: of the training lengths, or of one length."""
        options = self.options
        low, high = options.min_length, options.max_length
        if name == "validation":
            return self.alone(generator(seed, "validation"), options.validation_rows, low, high)
        if name == "test":
            return self.alone(generator(seed, "test"), options.test_rows, low, high)
        if name not in self.evaluations():
            raise KeyError(name)
        length = int(name.removeprefix("length="))
        return self.alone(generator(seed, "length", length), options.eval_rows, length, length)

    def alone(self, rng: np.random.Generator, rows: int, low: int, high: int) -> Batch:
        """One example a row, about strings of `low` to `high` letters."""
        lengths = rng.integers(low, high + 1, size=rows)
        return as_batch([pack(self.examples(rng, lengths), 1, self.options.longest(high))])

    def floors(self) -> dict[str, float]:
        odds = self.answer_odds()
        return {"guessed letters": float((odds * self.options.n_letters ** -np.arange(len(odds), dtype=float)).sum())}

    def answer_floors(self) -> dict[str, float]:
        end = self._end()
        letters = (1 - end) / self.options.n_letters
        return {"guessed letters": letters, "guessed letters, known end": letters + end}

    def plateaus(self) -> dict[str, float]:
        end = self._end()
        letters = (1 - end) * math.log(self.options.n_letters)
        doubt = -end * math.log(end) - (1 - end) * math.log(1 - end)
        return {
            "ln V": math.log(self.vocab_size),
            "guessed letters": letters + doubt,
            "guessed letters, known end": letters,
        }

    def letters(self, rng: np.random.Generator, rows: int, width: int) -> Ints:
        """Random letters."""
        return rng.integers(LETTER, LETTER + self.options.n_letters, size=(rows, width), dtype=np.int32)

    def _end(self) -> float:
        """The share of full stops among the answers."""
        odds = self.answer_odds()
        return float(1 / (1 + odds @ np.arange(len(odds))))


def join(parts: Sequence[Part], width: int | None = None, fill: int = PAD) -> Part:
    """Put the parts of every row one after the other."""
    size = np.sum([count for _, count in parts], axis=0)
    out = np.full((len(size), int(size.max()) if width is None else width), fill, np.int32)
    start = np.zeros_like(size)
    for tokens, count in parts:
        row, column = np.nonzero(np.arange(tokens.shape[1]) < count[:, None])
        out[row, start[row] + column] = tokens[row, column]
        start += count
    return out, size


def marks(rows: int) -> tuple[Part, Part, Part]:
    """`$`, `|` and `.` as parts: the same single token in every row."""
    begin, separator, end = (np.full((rows, 1), token, np.int32) for token in (BEGIN, SEPARATOR, END))
    one = np.ones(rows, np.int64)
    return (begin, one), (separator, one), (end, one)


def take(tokens: Ints, start: Counts, width: int) -> Ints:
    """The columns from `start` on, in every row; what lies behind the end repeats the last."""
    column = np.minimum(start[:, None] + np.arange(width), tokens.shape[1] - 1)
    return np.take_along_axis(tokens, column, 1)


def pack(examples: Examples, per_row: int, width: int) -> Packed:
    """Rows of `width` tokens: of every `per_row` examples, those that fit, in their order."""
    size, answers = examples.size.reshape(-1, per_row), examples.answers.reshape(-1, per_row)
    ends = size.cumsum(1)
    fits = ends <= width
    longest = int(examples.answers.max())
    first = examples.size - examples.answers
    targets = take(examples.tokens, first, longest).reshape(*size.shape, longest)
    asked = (ends.ravel() - examples.answers - 1)[:, None] + np.arange(longest)
    ats = asked.reshape(targets.shape).astype(np.int32)
    tokens = examples.tokens.reshape(*size.shape, -1)
    kept, counted = size * fits, answers * fits
    slots = range(per_row)
    row, _ = join([(tokens[:, m], kept[:, m]) for m in slots], width)
    at, _ = join([(ats[:, m], counted[:, m]) for m in slots], width // 2, 0)
    target, _ = join([(targets[:, m], counted[:, m]) for m in slots], width // 2, IGNORED)
    string, _ = join([(np.full_like(ats[:, m], m), counted[:, m]) for m in slots], width // 2, 0)
    return row, at, target, string


def as_batch(packed: Sequence[Packed]) -> Batch:
    """One batch of all rows, no wider than its answers."""
    tokens, at, target, string = (np.concatenate(arrays) for arrays in zip(*packed, strict=True))
    n = int((target != IGNORED).sum(1).max())
    return Batch(tokens, at[:, :n], target[:, :n], string[:, :n])
