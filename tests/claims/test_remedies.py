"""Our own claims: invented remedies that widen Mamba's window, shift it, cost accuracy, or cannot be judged."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.claims import CLAIMS, OWN, Evidence, ledger
from recollect.cli import main
from recollect.store import Contents, Record, Store
from recollect.studies import STUDIES, Changes
from recollect.studies.remedies import REMEDIES
from tests.support.invented import record_of

LRS = tuple(10 ** (-4 + i / 10) for i in range(31))
MUON = next(claim for claim in OWN.values() if claim.statement.startswith("Muon"))
Range = tuple[float, float]
Ranges = tuple[Range, ...]
NARROW, WIDE, UP, NOWHERE, OPEN = (-2.9, -2.3), (-3.4, -1.8), (-2.1, -1.5), (1.0, 2.0), (-9.0, 9.0)


def evidence(
    *cured: Range, plain: Range = NARROW, control: Range = WIDE, top: float = 0.99, broad: Ranges = ()
) -> Evidence:
    """Mamba with and without Muon, and attention, each with its window, Muon's perhaps in parts; `top` is what Muon
    reaches in it, `broad` its window at a second width."""
    worlds = {"mamba, Muon": (cured, top), "mamba, as it is": ((plain,), 0.99)}
    worlds["attention, as it is"] = ((control,), 0.99)
    runs: dict[str, list[Record]] = {}
    widths = (64, 128) if broad else ()
    for case in STUDIES["remedies"].cases("laptop", Changes(lrs=LRS, widths=widths)):
        if case.label in worlds:
            parts, best = worlds[case.label]
            if case.label == "mamba, Muon" and case.spec.model.d_model == 128:
                parts = broad
            inside = any(low < math.log10(case.spec.train.lr) < high for low, high in parts)
            runs.setdefault(case.label, []).append(record_of(case.spec, best if inside else 0.2, "partial"))
    return Evidence("remedies", "laptop", runs)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("supported", evidence(WIDE)),
        ("supported", evidence(WIDE, top=0.985)),
        ("supported", evidence(WIDE, plain=NOWHERE)),
        ("supported", evidence(OPEN)),
        ("supported", evidence(WIDE, broad=(OPEN,))),
        ("contradicted", evidence(WIDE, broad=(NARROW,))),
        ("open", evidence(WIDE, broad=((-2.9, -2.0),))),
        ("contradicted", evidence((-3.4, -3.1), (-1.8, -1.5))),
        ("contradicted", evidence(NARROW)),
        ("contradicted", evidence(UP)),
        ("contradicted", evidence(WIDE, top=0.97)),
        ("contradicted", evidence(NOWHERE)),
        ("contradicted", evidence(WIDE, plain=OPEN)),
        ("open", evidence(OPEN, plain=OPEN)),
        ("open", evidence(WIDE, control=NOWHERE)),
        ("open", evidence(NOWHERE, plain=NOWHERE, control=NOWHERE)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_remedy_has_to_widen_and_may_cost_little(word: str, found: Evidence) -> None:
    verdict = MUON.judge(found)
    assert verdict.finding.word == word, verdict.finding.numbers
    assert "P(wider by 0.3)" in verdict.finding.numbers
    json.dumps(verdict.to_json(), allow_nan=False)


def test_a_remedy_that_may_widen_waits_for_the_longer_search() -> None:
    """Thirteen rates suffice where the window is likely no wider; where it is, the study asks for more."""
    rates = LRS[2:28:2]
    for cured, waits in (((-3.7, -1.5), True), ((-2.9, -2.1), False)):
        whole = evidence(cured, plain=(-3.3, -1.7))
        plain = whole.runs["mamba, as it is"]
        known = [*plain, *(searched(run, 1) for run in plain if run.spec.seed == 42)]
        few = [run for run in whole.runs["mamba, Muon"] if run.spec.train.lr in rates]
        few += [searched(run, 1) for run in few if run.spec.seed == 42]
        found = MUON.judge(replace(whole, runs={**whole.runs, "mamba, as it is": known, "mamba, Muon": few}))
        assert (found.finding.numbers == "2 of 3 cells have all their runs") == waits, found.finding.numbers


def searched(run: Record, seed: int) -> Record:
    """A run of the same by a search, whose seeds are its own."""
    assert run.result is not None
    return record_of(run.spec.at(run.spec.train.lr, seed), run.result["validation_accuracy"], "partial")


def test_every_remedy_of_mamba_has_a_claim_and_the_papers_are_still_forty_two() -> None:
    assert list(CLAIMS) == list(range(1, 43))
    mambas = [name for name, switch in REMEDIES.items() if "mamba" in (switch.mixers or ("mamba",))]
    assert [claim.statement.partition(": widens")[0] for claim in OWN.values()] == mambas
    assert [claim.mark for claim in OWN.values()] == [f"R{i}" for i in range(1, len(mambas) + 1)]
    for claim in OWN.values():
        assert set(claim.test.labels) <= set(STUDIES["remedies"].models)


def test_they_are_judged_apart_from_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(tmp_path / "recollect.db", create=True)
    assert {verdict.claim.ours for verdict in ledger(Contents(store))} == {False}
    assert {verdict.claim.ours for verdict in ledger(Contents(store), claims=OWN)} == {True}
    store.close()
    for words, count in ((["claims", "--json"], 42), (["claims", "--own", "--json"], len(OWN))):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert not end.value.code
        found = json.loads(capsys.readouterr().out)
        assert len(found) == count
    assert found[0]["claim"] == "R1"
    with pytest.raises(SystemExit) as end:
        main(["claims", "3", "--own"])
    assert end.value.code == 2
