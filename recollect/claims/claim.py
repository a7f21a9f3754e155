"""What a claim is: a statement of the paper, and a test on results that was fixed before the runs that it judges."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from recollect.claims.evidence import Evidence
from recollect.studies import SCALES, STUDIES

Word = Literal["supported", "contradicted", "open"]
SEEDS = 3
"""So many seeds at the chosen learning rate are the least that a verdict rests on."""


@dataclass(frozen=True)
class Finding:
    """What a test says, and the numbers behind it; `lacking` where it had to wait for runs of its own scale."""

    word: Word
    numbers: str
    lacking: bool = False


class Test(NamedTuple):
    """The models that it needs, by their labels in the study, and what it finds in their runs.

    `also` are models that it looks at where a scale has them.
    """

    labels: tuple[str, ...]
    find: Callable[[Evidence], Finding]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement in our words, where the paper makes it, its number there, and the study and test that judge it.

    One of `ours` is no statement of the paper's. `version` is raised with every change of the rule, before the runs
    that it judges (docs/decisions/0007-rules.md).
    """

    number: int
    statement: str
    where: str
    paper: str
    study: str
    rule: str
    test: Test
    version: int = 1
    ours: bool = False

    @property
    def mark(self) -> str:
        """Its number; those of our own claims stand apart."""
        return f"R{self.number}" if self.ours else str(self.number)

    def judge(self, evidence: Evidence) -> "Verdict":
        """The verdict on what there is; open where runs or seeds are missing, or where one seed alone decides."""
        return Verdict(self, evidence, self._missing(evidence) or self._steady(evidence))

    def _steady(self, evidence: Evidence) -> Finding:
        """What the test finds, if it finds the same without any one seed."""
        found = self.test.find(evidence)
        if found.word != "open":
            for seed in evidence.told_by():
                if self.test.find(evidence.without(seed)).word != found.word:
                    return Finding("open", f"{found.word}, but not without seed {seed}: {found.numbers}")
        return found

    def _missing(self, evidence: Evidence) -> Finding | None:
        if not evidence.runs:
            return Finding("open", f"no run of {self.study}", lacking=True)
        if absent := [label for label in self.test.labels if label not in {*evidence.models, *evidence.runs}]:
            return Finding("open", f"not part of {self.study} at this scale: {', '.join(absent)}")
        also = (label for label in self.test.also if label in evidence.models)
        labels = list(dict.fromkeys([*self.test.labels, *also]))
        if waiting := [label for label in labels if label not in evidence.runs]:
            return Finding("open", f"no runs yet: {'; '.join(waiting)}", lacking=True)
        done, total = evidence.progress(labels)
        if done < total:
            return Finding("open", f"{done} of {total} runs done", lacking=True)
        done, total = evidence.cells(labels)
        if done < total:
            return Finding("open", f"{done} of {total} cells have all their runs", lacking=True)
        if mixed := [label for label in labels if evidence.is_mixed(label)]:
            return Finding("open", f"runs that differ in more than rate and seed are mixed: {'; '.join(mixed)}")
        seeds = evidence.seeds(labels)
        few = f"{seeds} of the {SEEDS} seeds that it needs"
        return Finding("open", few, lacking=True) if seeds < SEEDS else None


@dataclass(frozen=True)
class Verdict:
    """A claim, judged at one scale."""

    claim: Claim
    evidence: Evidence
    finding: Finding

    def basis(self) -> str:
        """Scale and budget, for it holds for nothing else; its rule's version; the numbers; what would settle it."""
        at = f"at scale {self.evidence.scale} ({self.evidence.budget()})" if self.evidence.runs else ""
        then = f"; to settle it: {self.settled_by}" if self.settled_by else ""
        return f"{at} by rule {self.claim.version}: {self.finding.numbers}{then}".strip()

    @property
    def settled_by(self) -> str:
        """What could settle an open one: the runs that are missing at its scale, or else those of the next larger one.

        Empty where it is settled, or open at the largest scale, or where a study that a user changed lacks runs: their
        own command makes those.
        """
        scales = [name for name in SCALES[1:] if name in STUDIES[self.claim.study].scales]
        here, changed, _ = self.evidence.scale.partition(" (")
        if changed and self.finding.lacking:
            return ""
        at = scales.index(here) if here in scales else -1
        wanted = scales[max(at, 0) if self.finding.lacking else at + 1 :]
        is_open = self.finding.word == "open"
        return f"recollect run {self.claim.study} --scale {wanted[0]}" if is_open and wanted else ""

    def to_json(self) -> dict[str, Any]:
        """One entry of the ledger."""
        claim = self.claim
        return {
            "claim": claim.mark if claim.ours else claim.number,
            "statement": claim.statement,
            "where": claim.where,
            "paper": claim.paper,
            "study": claim.study,
            "scale": self.evidence.scale,
            "rule": claim.rule,
            "version": claim.version,
            "verdict": self.finding.word,
            "numbers": self.finding.numbers,
            "budget": self.evidence.budget(),
            "settled_by": self.settled_by,
        }
