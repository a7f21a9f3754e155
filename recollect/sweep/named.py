"""A named list of runs: of a study, or of a file."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.studies import Case, Design, runs_of
from recollect.window import ComparedCell, TunedCell, at_length
from recollect.window.cell import Cell
from recollect.window.reading import grouped
from recollect.window.tuned import LONG, MOST


@dataclass(frozen=True)
class Sweep:
    """A named list of runs; `scale` is empty where the file knows none.

    Where their learning rates are searched instead, it is for the cells and seeds of the runs, in the `span` (if none
    is given, between their outermost learning rates). `choice` says what was chosen for mixers of users.
    """

    name: str
    scale: str
    cases: list[Case]
    span: tuple[float, float] | None = None
    choice: str = ""

    def runs(self, design: Design) -> tuple[int, int]:
        """How many runs a design takes, usually and at most."""
        cells = grouped((case.spec.cell, case.spec) for case in self.cases).values()
        axes = [({spec.train.lr for spec in specs}, {spec.seed for spec in specs}) for specs in cells]
        most = LONG if any(case.against for case in self.cases) else MOST
        low, high = zip(*(runs_of(design, lrs, len(seeds), most) for lrs, seeds in axes), strict=True)
        return sum(low), sum(high)

    def tuned(self, cases: Sequence[Case], most: int | None) -> list[tuple[str, Cell]]:
        """The cells of some of its runs under their labels, each to be searched with at most so many runs.

        Cells that are compared, and those that they are compared with, have numbers of their own, if none is given.
        """
        lrs = [case.spec.train.lr for case in self.cases]
        seeds, span = tuple(dict.fromkeys(case.spec.seed for case in self.cases)), self.span or (min(lrs), max(lrs))
        cells = {case.spec.cell: case for case in reversed(cases)}
        others = {case.against.cell for case in cells.values() if case.against is not None} & cells.keys()

        def planner(case: Case) -> Cell:
            if most is not None or not others & {case.spec.cell, case.against.cell if case.against else ""}:
                return TunedCell.of(case.spec, seeds, span, most or MOST)
            if case.against is None:
                return at_length(case.spec, seeds, span)
            return ComparedCell.of(case.spec, case.against, seeds, span)

        return [(case.label, planner(case)) for case in reversed(cells.values())]
