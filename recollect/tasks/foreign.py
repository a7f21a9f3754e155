"""A user's own task.

A class with `vocab_size`, `length` and `draw(rng, rows)`, which returns tokens (B, L), the asked positions (B, Q) and
the right answers (B, Q), -100 where there is none. All randomness comes from `rng`. It may name `floors` (accuracies of
a model that does not recall) and `plateaus` (losses at which such a model may stay), as dictionaries or methods.
"""

import math
from collections.abc import Mapping

import numpy as np

from recollect.errors import BadInput
from recollect.spec import ForeignTaskOptions
from recollect.spec.names import make_foreign
from recollect.tasks.task import Batch, Ints, Task


class ForeignTask(Task):
    """Draws what the user's class draws, and refuses what is no batch."""

    def __init__(self, options: ForeignTaskOptions) -> None:
        super().__init__(options)
        self.name = options.name
        self.inner = make_foreign(options, options.arguments())

    def draw(self, rng: np.random.Generator, rows: int) -> Batch:
        drawn = self.inner.draw(rng, rows)
        if isinstance(drawn, Batch):
            return drawn
        if not isinstance(drawn, tuple) or len(drawn) != 3:
            raise BadInput(f"task {self.name}: draw must return tokens, positions and answers (got {type(drawn)})")
        return Batch(*(self._whole(name, part) for name, part in zip(("tokens", "at", "target"), drawn, strict=True)))

    def _whole(self, name: str, part: object) -> Ints:
        found = np.asarray(part)
        if found.ndim != 2 or not np.issubdtype(found.dtype, np.integer):
            raise BadInput(f"task {self.name}: {name} must be whole numbers (B, ...) (got {found.dtype} {found.shape})")
        return found.astype(np.int32)

    def floors(self) -> Mapping[str, float]:
        return self._told("floors") or {"1/V": 1 / self.vocab_size}

    def plateaus(self) -> Mapping[str, float]:
        return self._told("plateaus") or {"ln V": math.log(self.vocab_size)}

    def _told(self, name: str) -> dict[str, float]:
        told = getattr(self.inner, name, {})
        try:
            found = {str(key): float(value) for key, value in (told() if callable(told) else told).items()}
        except (Exception, SystemExit) as error:
            raise BadInput(f"task {self.name}: {name} raised {type(error).__name__}: {error}") from error
        if not all(map(math.isfinite, found.values())):
            raise BadInput(f"task {self.name}: {name} must be finite numbers (got {found})")
        return found
