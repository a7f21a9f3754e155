"""The paper's claims, each with a test that was fixed before the runs it judges. Never imports torch."""

from collections.abc import Collection
from typing import Protocol

from recollect.claims import ablations, dynamics, inside, learning_rate, newer, remedies, scaling
from recollect.claims.claim import Claim, Finding, Verdict
from recollect.claims.evidence import Evidence
from recollect.spec.registry import Registry
from recollect.store import Record
from recollect.studies import STUDIES
from recollect.window.select import Select, by_label

PARTS = (learning_rate, scaling, dynamics, ablations, newer, inside)
NUMBERED = {claim.number: claim for part in PARTS for claim in part.CLAIMS}
CLAIMS: Registry[int, Claim] = Registry("claim", sorted(NUMBERED.items()))
"""The paper's."""
OWN: Registry[int, Claim] = Registry("claim of our own", ((claim.number, claim) for claim in remedies.CLAIMS))


class Source(Protocol):
    """Where runs come from, with their curves."""

    def studies(self) -> list[tuple[str, str]]:
        """Every study and the scales at which it was run."""

    def labelled(self, study: str, scale: str, /) -> list[tuple[str, Record]]:
        """The runs of a study at a scale under their labels, in the study's order."""


def ledger(
    runs: Source,
    select: Select = "validation",
    studies: Collection[str] | None = None,
    claims: Registry[int, Claim] = CLAIMS,
) -> list[Verdict]:
    """Every claim, or those on some studies, judged at every scale at which its study was run; open once where none.

    Where only some models of a study were run again, under changes, claims on the others are not judged once more.
    """
    judged = [claim for claim in claims.values() if studies is None or claim.study in studies]
    gathered: dict[str, list[Evidence]] = {claim.study: [] for claim in judged}
    for study, scale in runs.studies():
        if study in gathered and scale:
            gathered[study].append(Evidence(study, scale, by_label(_meant(study, scale, runs)), select))
    nothing = [Evidence("", "", {})]
    return [claim.judge(found) for claim in judged for found in _with_models(claim, gathered[claim.study]) or nothing]


def _meant(study: str, scale: str, runs: Source) -> list[tuple[str, Record]]:
    """The runs of the cells that the study has at a scale: an earlier version may have left others under its name.

    Of a changed study nobody knows its cells: all.
    """
    found, known = runs.labelled(study, scale), STUDIES[study]
    if scale not in known.scales:
        return found
    cells = {(case.label, case.spec.cell) for case in known.cells(scale)}
    return [(label, record) for label, record in found if (label, record.cell) in cells]


def _with_models(claim: Claim, gathered: list[Evidence]) -> list[Evidence]:
    """The evidence that has the claim's models; all of it where none has."""
    return [found for found in gathered if set(claim.test.labels) <= set(found.runs)] or gathered


__all__ = ["CLAIMS", "OWN", "Claim", "Evidence", "Finding", "Source", "Verdict", "ledger"]
