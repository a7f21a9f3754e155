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
        n, (strings, place) = self.options.n_gram, self.questions(rng, lengths)
        begin, separator, end = marks(len(lengths))
        gram = take(strings, place, n), np.full(len(lengths), n)
        answer = take(strings, place + n, strings.shape[1]), lengths - place - n
        tokens, size = join([begin, gram, separator, (strings, lengths), separator, answer, end])
        return Examples(tokens, size, answer[1] + 1)
