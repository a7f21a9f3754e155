"""Looking into a model while it trains. Nothing here changes a number of the run."""

from typing import Any

from recollect.inside.diagnostics import diagnose
from recollect.inside.seen import draw_rows, look
from recollect.spec import RunSpec
from recollect.spec.watch import Watch
from recollect.training.trainer import Trainer

ROWS = 4
"""So few that looking takes less than a tenth of a run, also where every channel has a matrix."""


class Observer:
    """What `training.execute` asks after every step."""

    def __init__(self, spec: RunSpec, watch: Watch) -> None:
        self.watch, self.rows = watch, draw_rows(spec, ROWS)
        self.steps = watch.steps(spec.train.steps)

    def due(self, step: int, ended: bool) -> bool:
        """Whether to look at this step."""
        return ended or step in self.steps

    def look(self, trainer: Trainer) -> dict[str, Any]:
        """Name -> number; at the first step and the last one also pictures and curves, as nested lists."""
        seen, progress = look(trainer.model, self.rows), trainer.progress
        whole = progress.step == 0 or bool(progress.stopped)
        more = diagnose(trainer) if self.watch.diagnostics else {}
        return seen.numbers() | more | (seen.arrays(self.rows.places) if whole else {})
