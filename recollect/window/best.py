"""The planner of `--design best`."""

from collections.abc import Collection, Sequence

from recollect.spec import RunSpec
from recollect.spec.protocols import ZOOLOGY
from recollect.store import Record
from recollect.window.select import choose, zoologys


def grids(lrs: Collection[float]) -> int:
    """How many best rates a grid has: one, and one of Zoology's four where they are a part of it."""
    return 1 + (set(lrs) > set(ZOOLOGY.lrs))


class BestRate:
    """First one seed at every learning rate of a cell, then its other seeds at the rate that validation chooses.

    Where Zoology's four rates are among others, the best of the four gets its seeds too, so that the two grids compare.
    """

    def __init__(self, specs: Sequence[RunSpec]) -> None:
        self.cells: dict[str, list[RunSpec]] = {}
        for spec in specs:
            self.cells.setdefault(spec.cell, []).append(spec)

    def count(self, finished: Sequence[Record]) -> int:
        """How many runs there will be, at most where the best rates are not known yet."""
        known = {record.id: record for record in finished}
        done = {spec.id for specs in self.cells.values() for spec in self._wanted(specs, known)} & known.keys()
        return len(done) + len(self.left(finished))

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        known = {record.id: record for record in finished}
        asked = {spec.id for spec in under_way} | set(known)
        return [spec for specs in self.cells.values() for spec in self._wanted(specs, known) if spec.id not in asked]

    def left(self, finished: Sequence[Record]) -> list[RunSpec]:
        """The runs that are still to come; seeds at a rate that is not chosen yet stand at the first ones."""
        known, out = {record.id: record for record in finished}, list[RunSpec]()
        for specs in self.cells.values():
            wanted = self._wanted(specs, known)
            seeds, rates = {spec.seed for spec in wanted}, list(dict.fromkeys(spec.train.lr for spec in specs))
            some = rates[: grids(rates)]
            others = [spec for spec in specs if spec.train.lr in some and spec.seed not in seeds]
            out += [*(spec for spec in wanted if spec.id not in known), *others]
        return out

    @staticmethod
    def _wanted(specs: list[RunSpec], known: dict[str, Record]) -> list[RunSpec]:
        """The runs of one cell, as far as they can be told."""
        first = [spec for spec in specs if spec.seed == specs[0].seed]
        if any(spec.id not in known for spec in first):
            return first
        tried = [known[spec.id] for spec in first]
        chosen = {choice.lr for runs in (tried, zoologys(tried)) if (choice := choose(runs)) is not None}
        return [*first, *(spec for spec in specs if spec.train.lr in chosen and spec.seed != specs[0].seed)]
