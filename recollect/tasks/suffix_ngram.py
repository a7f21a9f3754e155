"""Lookup with the n-gram last (Jelassi et al. 2024): the string must be remembered whole before the question is known.

    $doggy|oggy.         n = 2: `og` occurs once in `doggy`, and `gy` follows it
            gy.          targets, each at the token before it

Departs from it: the n-gram occurs in the string exactly once.
"""

import numpy as np

from recollect.tasks.ngrams import Lookup
from recollect.tasks.strings import Counts, Examples, join, marks, take


class SuffixNgram(Lookup):
    """`$S|gA.`."""

    def examples(self, rng: np.random.Generator, lengths: Counts) -> Examples:
        strings, place = self.questions(rng, lengths)
        begin, separator, end = marks(len(lengths))
        rest = take(strings, place, strings.shape[1]), lengths - place
        tokens, size = join([begin, (strings, lengths), separator, rest, end])
        return Examples(tokens, size, rest[1] - self.options.n_gram + 1)
