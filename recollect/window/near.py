"""A cell beside one that was searched: of another width, at three learning rates about the best one found there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.spec import RunSpec
from recollect.spec.rates import on_lattice
from recollect.store import Record, Tells
from recollect.store.records import ALL
from recollect.window.best import BestRate
from recollect.window.tuned import TunedCell

ABOUT = (-0.5, 0.0, 0.5)
"""Decades from the best rate of the cell that was searched."""


@dataclass(frozen=True)
class NearCell:
    """A planner for one cell: once the other's search is over, one seed at every rate, then all at the best."""

    spec: RunSpec
    searched: TunedCell

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """Nothing before the other cell's rate is known."""
        if not self.searched.is_searched(finished, under_way):
            return []
        return list(BestRate(self._specs(finished)).next(finished, under_way))

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs there are."""
        asked = {record.id for record in finished} | {spec.id for spec in under_way}
        return len(asked & {spec.id for spec in self._specs(finished)})

    def most(self, finished: Sequence[Record]) -> int:
        """How many there may be in the end."""
        return max(len(ABOUT) + len(self.searched.seeds) - 1, self.spent(finished, []))

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """Its finished runs."""
        own = {spec.id for spec in self._specs(finished)}
        return [record for record in finished if record.is_done and record.id in own]

    def resumed(self, stopped: Sequence[RunSpec], finished: Sequence[Record]) -> list[RunSpec]:
        """None: they are asked for again in any case."""
        return []

    def tells(self, spec: RunSpec) -> Tells:
        """Of everything, as in a grid."""
        return ALL

    def _specs(self, finished: Sequence[Record]) -> list[RunSpec]:
        """Every rate with every seed, as far as the other cell's search has come."""
        found = self.searched.found(finished)
        if found is None:
            return []
        rates = [on_lattice(math.log10(found.best_lr) + decades) for decades in ABOUT]
        return [self.spec.at(lr, seed) for seed in self.searched.seeds for lr in rates]
