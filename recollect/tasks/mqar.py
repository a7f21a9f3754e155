"""Multi-query associative recall (Arora et al. 2023): every key of the row is asked exactly once.

k1 v1 k2 v2 | k1 .. k2 ..      K = 2, L = 8
              v1    v2         the target stands at the query's own index
"""

from recollect.spec.tasks.recall import MQAROptions
from recollect.tasks.recall import Recall


class MQAR(Recall):
    """K pairs, K queries."""

    def __init__(self, options: MQAROptions) -> None:
        super().__init__(options, n_queries=options.n_pairs)
