"""Copying (Jelassi et al. 2024): the whole string again, behind a separator.

    $dog|dog.            a string of 3 letters
        dog.             targets, each at the token before it

Departs from it: a row ends with the last whole example that fits, and none is cut.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.spec.tasks.strings import CopyOptions
from recollect.tasks.ngrams import with_duplicates
from recollect.tasks.streams import generator
from recollect.tasks.strings import Counts, Examples, Strings, as_batch, join, marks, pack
from recollect.tasks.task import Batch, Ints


class Copy(Strings):
    """`$S|S.`; judged also on strings with duplicate n-grams."""

    options: CopyOptions

    def examples(self, rng: np.random.Generator, lengths: Counts) -> Examples:
        return repeated(self.letters(rng, len(lengths), int(lengths.max())), lengths)

    def answer_odds(self) -> NDArray[np.float64]:
        return same_odds(self.options.min_length, self.options.max_length)

    def evaluations(self) -> tuple[str, ...]:
        return (*super().evaluations(), *(f"duplicate={n}" for n in self.options.eval_duplicates))

    def evaluation(self, name: str, seed: int) -> Batch:
        """`duplicate=n`: strings of the longest training length in which an n-gram occurs twice."""
        if not name.startswith("duplicate=") or name not in self.evaluations():
            return super().evaluation(name, seed)
        n, letters = int(name.partition("=")[2]), self.options.max_length
        rng, lengths = generator(seed, "duplicate", n), np.full(self.options.eval_rows, letters)
        strings = with_duplicates(rng, lengths, n, self.letters)
        return as_batch([pack(repeated(strings, lengths), 1, self.options.longest(letters))])


def repeated(strings: Ints, lengths: Counts) -> Examples:
    """The examples `$S|S.`."""
    begin, separator, end = marks(len(lengths))
    tokens, size = join([begin, (strings, lengths), separator, (strings, lengths), end])
    return Examples(tokens, size, lengths + 1)


def same_odds(low: int, high: int) -> NDArray[np.float64]:
    """Every number of letters from `low` to `high` equally likely."""
    return np.where(np.arange(high + 1) >= low, 1 / (high + 1 - low), 0.0)
