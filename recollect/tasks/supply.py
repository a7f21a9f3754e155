"""Training batches by step: fresh rows, or a fixed set in epochs."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.tasks.streams import generator
from recollect.tasks.task import Batch, Task


class Supply:
    """`batch(step)` depends on the seed and the step alone."""

    def __init__(self, task: Task, seed: int, batch_size: int) -> None:
        self.task, self.seed, self.batch_size = task, seed, batch_size
        rows = task.options.rows
        self.fixed = None if rows == "fresh" else task.draw(generator(seed, "data"), rows)
        self.order = lru_cache(maxsize=1)(self._order)

    def batch(self, step: int) -> Batch:
        """The rows of this step (the last batch of an epoch may be smaller)."""
        if self.fixed is None:
            return self.task.draw(generator(self.seed, "data", step), self.batch_size)
        return self.fixed[self.numbers(step)]

    def numbers(self, step: int) -> NDArray[np.int64]:
        """Which rows of the fixed set this step takes."""
        assert self.fixed is not None
        per_epoch = -(-len(self.fixed) // self.batch_size)
        epoch, within = divmod(step, per_epoch)
        return self.order(epoch)[within * self.batch_size : (within + 1) * self.batch_size]

    def _order(self, epoch: int) -> NDArray[np.int64]:
        assert self.fixed is not None
        if not self.task.options.shuffle:
            return np.arange(len(self.fixed))
        return generator(self.seed, "order", epoch).permutation(len(self.fixed))
