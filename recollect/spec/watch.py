"""What is to be observed while a run trains: it travels with the job. No part of the spec, as it changes nothing."""

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

FIRST = 400
"""The first look after the beginning is at this part of the budget: before it nothing happens."""


@dataclass(frozen=True)
class Watch:
    """So many looks at steps that are evenly spaced on a logarithmic scale, one before the first and one at the end."""

    looks: int = 20
    diagnostics: bool = False

    @property
    def mark(self) -> str:
        """A number that every look has."""
        return "sharpness" if self.diagnostics else "gradient length"

    def steps(self, total: int) -> set[int]:
        """The steps of a run with this budget."""
        first = max(1, total // FIRST)
        return {0, *(int(step) for step in np.geomspace(first, total, self.looks).round())}

    def lacks(self, budget: int, ended: int, seen: Container[int]) -> bool:
        """Whether a run that ended at a step was not seen at all steps that are asked for."""
        return any(step not in seen for step in {*(step for step in self.steps(budget) if step <= ended), ended})
