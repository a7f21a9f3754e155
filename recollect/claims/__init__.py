"""The paper's claims, each with a test that was fixed before the runs it judges. Never imports torch."""

from recollect.claims import ablations, dynamics, learning_rate, newer, scaling
from recollect.claims.claim import Claim, Finding, Verdict
from recollect.claims.evidence import Evidence, gather
from recollect.store import Store
from recollect.window.select import Select

CLAIMS: dict[int, Claim] = {
    claim.number: claim for part in (learning_rate, scaling, dynamics, ablations, newer) for claim in part.CLAIMS
}


def ledger(store: Store, select: Select = "validation") -> list[Verdict]:
    """Every claim, judged at every scale at which the store has runs of its study; open once where there are none."""
    scales: dict[str, list[str]] = {}
    studies = {claim.study for claim in CLAIMS.values()}
    for tally in store.tallies():
        if tally.study in studies and tally.scale and tally.scale not in scales.setdefault(tally.study, []):
            scales[tally.study].append(tally.scale)
    moving = {claim.study for claim in dynamics.CLAIMS}
    gathered = {
        (study, scale): gather(store, study, scale, select, curves=study in moving)
        for study, found in scales.items()
        for scale in found
    }
    nothing = Evidence("", "", {})
    return [
        claim.judge(gathered.get((claim.study, scale), nothing))
        for claim in CLAIMS.values()
        for scale in scales.get(claim.study, [""])
    ]


__all__ = ["CLAIMS", "Claim", "Evidence", "Finding", "Verdict", "gather", "ledger"]
