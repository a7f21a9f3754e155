"""The planner of `--design best`."""

from collections.abc import Sequence

from recollect.spec import RunSpec
from recollect.store import Record
from recollect.window.select import choose


class BestRate:
    """First one seed at every learning rate of a cell, then its other seeds at the rate that validation chooses."""

    def __init__(self, specs: Sequence[RunSpec]) -> None:
        self.cells: dict[str, list[RunSpec]] = {}
        for spec in specs:
            self.cells.setdefault(spec.cell, []).append(spec)

    def count(self) -> int:
        """How many runs that will be."""
        axes = [({spec.train.lr for spec in specs}, {spec.seed for spec in specs}) for specs in self.cells.values()]
        return sum(len(lrs) + len(seeds) - 1 for lrs, seeds in axes)

    def next(self, finished: Sequence[Record], under_way: Sequence[RunSpec]) -> Sequence[RunSpec]:
        known = {record.id: record for record in finished}
        asked = {spec.id for spec in under_way} | set(known)
        return [spec for specs in self.cells.values() for spec in self._wanted(specs, known) if spec.id not in asked]

    def left(self, finished: Sequence[Record]) -> list[RunSpec]:
        """The runs that are still to come; seeds at a rate that is not chosen yet stand at the first one."""
        known, out = {record.id: record for record in finished}, list[RunSpec]()
        for specs in self.cells.values():
            wanted = self._wanted(specs, known)
            seeds = {spec.seed for spec in wanted}
            others = [spec for spec in specs if spec.train.lr == specs[0].train.lr and spec.seed not in seeds]
            out += [*(spec for spec in wanted if spec.id not in known), *others]
        return out

    @staticmethod
    def _wanted(specs: list[RunSpec], known: dict[str, Record]) -> list[RunSpec]:
        """The runs of one cell, as far as they can be told."""
        first = [spec for spec in specs if spec.seed == specs[0].seed]
        choice = choose([known[spec.id] for spec in first if spec.id in known])
        if choice is None or any(spec.id not in known for spec in first):
            return first
        return [*first, *(spec for spec in specs if spec.train.lr == choice.lr)]
