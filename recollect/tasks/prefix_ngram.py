"""Lookup with the n-gram first (Jelassi et al. 2024): the model knows what to look for when it reads the string.

    $og|doggy|gy.        n = 2: `og` occurs once in `doggy`, and `gy` follows it
             gy.         targets, each at the token before it

Departs from it: the n-gram occurs in the string exactly once.
"""

import numpy as np

from recollect.tasks.ngrams import Lookup
from recollect.tasks.strings import Counts, Examples, join, marks, take


class PrefixNgram(Lookup):
    """`$g|S|A.`."""

    def examples(self, rng: np.random.Generator, lengths: Counts) -> Examples:
        strings, place = self.questions(rng, lengths)
        begin, separator, end = marks(len(lengths))
        gram = take(strings, place, self.n), np.full(len(lengths), self.n)
        answer = take(strings, place + self.n, strings.shape[1]), lengths - place - self.n
        tokens, size = join([begin, gram, separator, (strings, lengths), separator, answer, end])
        return Examples(tokens, size, answer[1] + 1)
