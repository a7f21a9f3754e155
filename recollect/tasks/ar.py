"""Associative recall (Olsson et al. 2022): one pair, chosen at random, is asked.

k1 v1 k2 v2 k3 v3 | .. .. k2 ..      K = 3, L = 10
                          v2
"""

from recollect.spec.tasks.recall import AROptions
from recollect.tasks.recall import Recall


class AR(Recall):
    """K pairs, one query."""

    def __init__(self, options: AROptions) -> None:
        super().__init__(options, n_queries=1)
