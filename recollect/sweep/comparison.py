"""A user's models beside others: the cells of `recollect compare`, and the runs that are shipped for it."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.like import roles
from recollect.store import DONE, Record, Store, merge
from recollect.studies import STUDIES, Changes, Study
from recollect.studies.compare import SHARES, models
from recollect.sweep.searching import Searching
from recollect.window import TunedCell
from recollect.window.cell import Cell
from recollect.window.near import NearCell
from recollect.window.reading import grouped
from recollect.window.tuned import MOST

NAME = "compare"
REFERENCES = Path(__file__).parents[1] / "studies" / "references.db"
"""Finished runs of built-in mixers."""

CHOSEN = {
    "model.d_model": "the width is given as d_model (--d-model), and narrower ones follow",
    "model.n_layers": "mixers joined by commas are one model, one per layer",
    "train.lr": "learning rates are searched",
    "seed": "seeds are those of the scale",
}
"""The fields that a comparison chooses, and what to do instead of setting them."""


@dataclass(frozen=True)
class Comparison:
    """Models under their labels at a scale: every one searched at its width, then tried at smaller ones."""

    study: Study
    size: str
    changes: Changes
    max_runs: int = MOST

    @classmethod
    def of(
        cls, mixers: Sequence[str], against: Sequence[str], size: str, changes: Changes, max_runs: int = MOST
    ) -> "Comparison":
        """The user's first; without a word on the others those of the study."""
        study, own = STUDIES[NAME], models(mixers)
        others = models(against) or {label: model for label, model in study.models.items() if label not in own}
        for label in own.keys() & others.keys():
            raise BadInput(f"compare: '{label}' is on both sides; give every model once")
        for field in CHOSEN.keys() & changes.fields.keys():
            raise BadInput(f"compare: {field} cannot be set; {CHOSEN[field]}")
        roles([name for mixer in mixers for name in mixer.split(",")], changes.like, NAME, "like")
        return cls(replace(study, models=own | others), size, changes, max_runs)

    @cached_property
    def wide(self) -> dict[str, RunSpec]:
        """Label -> the spec that is searched."""
        return self._specs(self.changes)

    @property
    def scale(self) -> str:
        """The name under which its runs are kept: the scale's, with models and changes unless they are the study's."""
        models = [] if self.study.models == STUDIES[NAME].models else list(self.study.models)
        told = "; ".join(filter(None, (*models, str(self.changes))))
        return f"{self.size} ({told})" if told else self.size

    @cached_property
    def cells(self) -> list[tuple[str, Cell]]:
        """The planners of all cells under their labels."""
        sized = self.study.sized(self.size, self.changes)
        searched = {
            label: TunedCell.of(spec, sized.seeds, sized.span, self.max_runs) for label, spec in self.wide.items()
        }
        found: list[tuple[str, Cell]] = list(searched.items())
        for share in SHARES:
            widths = (next(iter(self.wide.values())).model.d_model // share,)
            narrow = self._specs(replace(self.changes, widths=widths))
            found += [(label, NearCell(spec, searched[label])) for label, spec in narrow.items()]
        return found

    def _specs(self, changes: Changes) -> dict[str, RunSpec]:
        cases = self.study.cases(self.size, changes)
        return {label: found[0] for label, found in grouped((case.label, case.spec) for case in cases).items()}

    def searching(self) -> Searching:
        """All its searches."""
        return Searching(NAME, self.scale, self.cells, whole=True)

    def borrow(self, store: Store) -> None:
        """Take over the shipped runs of these cells that the store lacks."""
        if self.shipped():
            merge(store, REFERENCES, {cell.spec.cell for _, cell in self.cells})

    def shipped(self) -> list[Record]:
        """The shipped runs of these cells."""
        if not REFERENCES.exists():
            return []
        wanted = {cell.spec.cell for _, cell in self.cells}
        with closing(Store(REFERENCES)) as store:
            return [record for record in store.records(status=DONE) if record.cell in wanted]
