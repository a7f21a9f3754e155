"""Copying strings with a duplicate (Jelassi et al. 2024), for evaluation only: does the model copy by n-grams?

    $xogdog|xogdog.      n = 2: in `xcgdog`, `og` has replaced `cg` everywhere, so that it occurs twice
           xogdog.       targets, each at the token before it

A model that finds its place by the last n letters cannot tell the two places apart. The task `copy` is judged on it
by its evaluations `duplicate=n`; as a task of its own it is drawn and judged on, and training on it is refused.
"""

import numpy as np
from numpy.typing import NDArray

from recollect.spec.tasks.strings import DuplicateNgramOptions
from recollect.tasks.copy import repeated, same_odds
from recollect.tasks.ngrams import with_duplicates
from recollect.tasks.strings import Counts, Examples, Strings


class DuplicateNgram(Strings):
    """`$S|S.` where some n-gram of S occurs twice."""

    options: DuplicateNgramOptions

    def examples(self, rng: np.random.Generator, lengths: Counts) -> Examples:
        return repeated(with_duplicates(rng, lengths, self.options.n_gram, self.letters), lengths)

    def answer_odds(self) -> NDArray[np.float64]:
        return same_odds(self.options.min_length, self.options.max_length)
