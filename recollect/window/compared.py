"""A cell by search whose window is compared with another's: looked at longer where it may be the wider one.

Both are first searched with few runs. Where the window is then wider than its reference with a probability above one
half, the search goes on: what is said to widen a window is to be known better than what does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.spec import RunSpec
from recollect.store import Record, Tells
from recollect.window.effect import widening
from recollect.window.tuned import FINE, LONG, USUAL, TunedCell

LIKELY = 0.5


@dataclass(frozen=True)
class ComparedCell:
    """A planner for one cell: as `short` plans, or as `long` does; `reference` plans the other one."""

    short: TunedCell
    long: TunedCell
    reference: TunedCell

    @classmethod
    def of(cls, spec: RunSpec, against: RunSpec, seeds: Sequence[int], span: tuple[float, float]) -> "ComparedCell":
        """The cell of a spec, compared with that of another."""
        short = TunedCell.of(spec, seeds, span, USUAL)
        return cls(short, at_length(spec, seeds, span), at_length(against, seeds, span))

    @property
    def spec(self) -> RunSpec:
        """A run of the cell, which stands for all."""
        return self.short.spec

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> list[RunSpec]:
        """The runs of the short search; then, once the reference is known, what that comparison calls for."""
        if not self.short.is_searched(finished, []):
            return self.short.first.next(finished, under_way)
        if not self.reference.is_searched(finished, under_way):
            return []
        return self._now(finished).next(finished, under_way)

    def spent(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> int:
        """How many runs there are, of the search and after it."""
        return self.long.spent(finished, under_way)

    def most(self, finished: Sequence[Record]) -> int:
        """How many there may be in the end."""
        return self.long.most(finished)

    def known(self, finished: Sequence[Record]) -> list[Record]:
        """The finished runs of the search, and those after it."""
        return self.long.known(finished)

    def resumed(self, stopped: Sequence[RunSpec], finished: Sequence[Record]) -> list[RunSpec]:
        """Those of the search."""
        return self._now(finished).resumed(stopped, finished)

    def tells(self, spec: RunSpec) -> Tells:
        """The search's runs of the window, the others of the accuracy."""
        return self.long.tells(spec)

    def _now(self, finished: Sequence[Record]) -> TunedCell:
        """How the cell is planned, by what is finished."""
        own, other = self.short.found(finished), self.reference.found(finished)
        if own is None or other is None:
            return self.short
        return self.long if max(widening(own, other).above) > LIKELY else self.short


def at_length(spec: RunSpec, seeds: Sequence[int], span: tuple[float, float]) -> TunedCell:
    """A cell whose edges are to be known well."""
    return TunedCell.of(spec, seeds, span, LONG, FINE)
