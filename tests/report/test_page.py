"""The report as files: the page's value, its text, the command."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.cli import main
from recollect.report.html import SCRIPTS, TEMPLATES, html
from recollect.report.page import ClaimRow, Page, page
from recollect.report.rows import POINTS, thinned
from recollect.report.style import OUTCOMES
from recollect.report.write import write_report
from recollect.spec import RunSpec
from recollect.store import Contents, Record, Store
from tests.support.invented import LRS, fill, record_of, records_of, result_of
from tests.support.small import tiny

HEADINGS = ["Overview", "Studies", "Cells", "Runs"]
EVIL = '</script><script>alert(1)</script><b title="x">\'&'


def page_of(path: Path, claims: tuple[ClaimRow, ...] = ()) -> Page:
    """The page of a store."""
    store = Store(path)
    try:
        return page(Contents(store), None, claims)
    finally:
        store.close()


def headings(text: str) -> list[str]:
    """Those of the sections."""
    return re.findall(r'<h2 id="\w+-title">(.*?)</h2>', text)


def data_in(text: str) -> dict[str, object]:
    """The JSON of a page."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return dict(json.loads(found))


def diverged(record: Record) -> Record:
    """A run that ended without a finite loss."""
    result = result_of(record.spec, 0.0, "diverged")
    result |= dict.fromkeys(("validation_loss", "test_loss"))
    nothing: list[float | None] = [None] * 4
    curves = result["curves"]
    result["curves"] = {name: values if name == "step" else nothing for name, values in curves.items()}
    return replace(record, outcome="diverged", result=result)


def empty(path: Path) -> Path:
    """A store without a run."""
    return fill(path, [])


def half(path: Path) -> Path:
    """Some runs done, some waiting, one failed, one lost."""
    fill(path, [*records_of(lrs=LRS[4:6])[:4]], "demo")
    store = Store(path, create=True)
    waiting = [tiny(seed=seed) for seed in (50, 51, 52)]
    store.add(waiting)
    store.fail(waiting[0].id, "ValueError: no")
    store.fail(waiting[1].id, "killed", "lost")
    store.close()
    return path


def hopeless(path: Path) -> Path:
    """Only diverged runs."""
    return fill(path, [diverged(record) for record in records_of(lrs=LRS[-3:])], "demo")


def untouched(path: Path) -> Path:
    """A study of which nothing has begun."""
    specs = [tiny(seed=seed) for seed in (1, 2)]
    store = Store(path, create=True)
    store.add(specs)
    store.link("demo", "smoke", {spec.id: "attention" for spec in specs})
    store.close()
    return path


@pytest.mark.parametrize("make", [empty, half, hopeless, untouched])
def test_any_store_gives_a_page_with_all_headings_and_every_file(make: object, tmp_path: Path) -> None:
    path = make(tmp_path / "s.db")  # type: ignore[operator]
    with pytest.raises(SystemExit) as end:
        main(["report", "--store", str(path), "--out", str(tmp_path / "out")])
    assert end.value.code == 0
    text = (tmp_path / "out" / "report.html").read_text()
    assert headings(text) == HEADINGS
    for name in ("cells.md", "cells.csv", "cells.tex"):
        assert (tmp_path / "out" / name).exists()
    if make is not empty:
        assert data_in(text)["runs"]


def test_an_empty_section_says_so_in_a_sentence(tmp_path: Path) -> None:
    text = html(page_of(empty(tmp_path / "s.db")))
    for sentence in ("This store has no run yet", "No run belongs to a study", "There is no cell", "There is no run."):
        assert sentence in text
    assert "No run of this study is finished yet." in html(page_of(untouched(tmp_path / "t.db")))


def test_the_overview_counts_statuses_and_outcomes(tmp_path: Path) -> None:
    value = page_of(half(tmp_path / "s.db"))
    assert value.statuses == {"pending": 1, "done": 4, "failed": 1, "lost": 1}
    assert value.outcomes == {"solved": 4}
    (study,) = value.studies
    assert (study.name, study.scale, study.statuses) == ("demo", "laptop", {"done": 4})
    assert {run["error"] for run in value.runs if "error" in run} == {"ValueError: no", "killed"}


def test_a_run_on_the_page_has_its_whole_spec_and_its_command(tmp_path: Path) -> None:
    (record,) = records_of("mamba", LRS[4:5], (3,))
    value = page_of(fill(tmp_path / "s.db", [record]))
    (cell,), (run,) = value.cells, value.runs
    assert cell["spec"]["model.mixer.d_state"] == record.spec.model.mixers[0].model_dump()["d_state"]
    assert set(cell["spec"]) | {"train.lr", "seed"} >= {"task.length", "train.steps", "compute.kernel", "numerics"}
    assert (run["lr"], run["seed"], run["outcome"]) == (record.spec.train.lr, 3, "solved")
    assert cell["command"].startswith("recollect train mqar mamba ")


def test_curves_are_thinned_but_keep_their_ends() -> None:
    found = thinned({"step": list(range(500)), "train_loss": [i / 3 for i in range(500)]})
    assert len(found["step"]) == POINTS
    assert (found["step"][0], found["step"][-1]) == (0, 499)
    assert found["train_loss"][-1] == 166.3333
    assert thinned({"step": [1, 2], "train_loss": [float("nan"), None]}) == {"step": [1, 2], "train_loss": [None, None]}


def test_every_string_is_escaped(tmp_path: Path) -> None:
    spec = tiny()
    plain = spec.model_dump(mode="json")
    plain["model"]["mixer"] = {"name": f"{EVIL}.py:Mixer", "source": "sha256 0", "path": EVIL}
    foreign = RunSpec.model_validate(plain)
    path = fill(tmp_path / "s.db", [record_of(foreign, 0.5, "partial")])
    store = Store(path, create=True)
    store.add([spec])
    store.fail(spec.id, EVIL)
    store.link(f"study {EVIL}", EVIL, {foreign.id: f"label {EVIL}"})
    store.close()
    claims = (ClaimRow(1, EVIL, EVIL, EVIL, EVIL, EVIL),)
    text = html(page_of(path, claims))
    assert EVIL not in text
    assert text.count("alert(1)</script>") == 0
    assert text.count("</script>") == 3
    assert EVIL in json.dumps(data_in(text)).encode().decode("unicode_escape")
    assert "&lt;script&gt;alert(1)" in text
    assert headings(text) == ["Overview", "Claims", "Studies", "Cells", "Runs"]


def test_the_page_knows_the_order_of_outcomes(tmp_path: Path) -> None:
    assert data_in(html(page_of(empty(tmp_path / "s.db"))))["outcomes"] == list(OUTCOMES)


def test_every_script_is_on_the_page_once(tmp_path: Path) -> None:
    text = html(page_of(empty(tmp_path / "s.db")))
    assert sorted(SCRIPTS) == sorted(file.stem for file in TEMPLATES.glob("*.js"))
    assert [text.count((TEMPLATES / f"{name}.js").read_text()) for name in SCRIPTS] == [1] * len(SCRIPTS)


def test_the_page_asks_for_nothing_from_the_network(tmp_path: Path) -> None:
    text = html(page_of(half(tmp_path / "s.db"))).split('<script type="module">')[0]
    assert "default-src 'none'" in text
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=", text)


def test_claims_are_shown_with_their_verdicts(tmp_path: Path) -> None:
    claim = ClaimRow(7, "Mamba solves it", "99 %", "supported", "3 of 3 seeds", "laptop (2,000 steps)")
    text = html(page_of(half(tmp_path / "s.db"), (claim,)))
    assert '<span class="verdict supported">supported</span>' in text
    assert "3 of 3 seeds" in text


def test_studies_stand_in_the_papers_order_and_sweeps_are_named_by_what_they_are(tmp_path: Path) -> None:
    path = fill(tmp_path / "s.db", records_of(lrs=LRS[4:6]), "a_sweep", "")
    for study in ("table2", "fig5", "demo", "fig1", "fig11"):
        fill(path, records_of(lrs=LRS[4:5]), study)
    value = page_of(path)
    assert [card.name for card in value.studies] == ["demo", "fig1", "fig5", "fig11", "table2", "a_sweep"]
    assert value.studies[-1].title == "attention on MQAR V=20 L=8 K=2, d=8, 1 layer"
    assert value.studies[-1].question == "The sweep a_sweep: 6 runs, 2 learning rates, 3 seeds."


def test_the_page_begins_with_the_tally_of_claims(tmp_path: Path) -> None:
    words = ["open", "supported", "open"]
    value = page_of(
        half(tmp_path / "s.db"), tuple(ClaimRow(n, "a", "b", word, "c", "d") for n, word in enumerate(words))
    )
    assert value.verdicts == {"open": 2, "supported": 1}
    assert "<b>2</b> claims" in html(value)


def test_a_cell_knows_the_ends_of_its_window(tmp_path: Path) -> None:
    (cell,) = page_of(fill(tmp_path / "s.db", records_of())).cells
    low, high, first, last = cell["edges"]
    assert first < low < 1e-3 < 5e-3 < high < last
    always = [record_of(record.spec, 0.99, "solved") for record in records_of()]
    (cell,) = page_of(fill(tmp_path / "t.db", always)).cells
    assert cell["edges"][2:] == [None, None]


def test_a_study_at_one_learning_rate_has_no_chart_over_learning_rates(tmp_path: Path) -> None:
    for count in (1, 2):
        (card,) = page_of(fill(tmp_path / f"{count}.db", records_of(lrs=LRS[4 : 4 + count]), "table2")).studies
        assert len(card.charts) == count


def test_only_what_was_asked_for_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = half(tmp_path / "s.db"), tmp_path / "out"
    with pytest.raises(SystemExit) as end:
        main(["report", "--store", str(path), "--study", "demo", "--format", "pdf", "latex", "--out", str(out)])
    assert end.value.code == 0
    assert sorted(file.name for file in out.iterdir()) == ["cells.tex", "demo.pdf", "demo.tex"]
    assert capsys.readouterr().out.splitlines() == [str(out / name) for name in ("demo.pdf", "demo.tex", "cells.tex")]


def test_a_figure_is_printed_as_the_command_asks(tmp_path: Path) -> None:
    path, out = fill(tmp_path / "s.db", records_of(), "fig1"), tmp_path / "out"
    asked = ["--width", "3.25", "--height", "2", "--no-title", "--no-note", "--panel", "main"]
    with pytest.raises(SystemExit) as end:
        main(["report", "--store", str(path), "--format", "svg", *asked, "--out", str(out)])
    assert end.value.code == 0
    drawn = (out / "fig1.svg").read_text()
    assert 'width="234pt" height="144pt"' in drawn
    assert "budget" not in drawn
    with pytest.raises(SystemExit) as end:
        main(["report", "--store", str(path), "--panel", "state", "--out", str(tmp_path / "none")])
    assert end.value.code == 2
    assert not (tmp_path / "none").exists()


def test_a_study_at_two_scales_has_two_figures(tmp_path: Path) -> None:
    path = fill(tmp_path / "s.db", records_of(lrs=LRS[4:5]), "demo", "laptop")
    fill(path, records_of(lrs=LRS[4:5], model__d_model=16), "demo", "smoke (changed)")
    store = Store(path)
    files = write_report(Contents(store), tmp_path / "out", ["png"])
    store.close()
    assert [file.name for file in files] == ["demo-laptop.png", "demo-smoke-(changed).png"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--study", "dmeo"], "--study: unknown name 'dmeo'; did you mean 'demo'?"),
        (["--out", "s.db"], "--out: s.db is not a directory"),
        (["--open", "--format", "pdf"], "--open shows the page; add html to --format (got pdf)"),
        (["--store", "none.db"], "store: no store at none.db"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    half(Path("s.db"))
    given = words if "--store" in words else ["--store", "s.db", *words]
    with pytest.raises(SystemExit) as end:
        main(["report", *given])
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not Path("report").exists()


def test_the_page_is_opened_where_that_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with pytest.raises(SystemExit):
        main(["report", "--store", str(empty(tmp_path / "s.db")), "--out", str(tmp_path / "out"), "--open"])
    assert opened == [(tmp_path / "out" / "report.html").as_uri()]


def test_the_report_never_imports_torch(tmp_path: Path) -> None:
    words = [
        "report",
        "--store",
        str(half(tmp_path / "s.db")),
        "--out",
        str(tmp_path),
        "--format",
        "html",
        "png",
        "csv",
    ]
    code = f"""import sys
from recollect.cli import main
try:
    main({words})
except SystemExit as end:
    sys.exit(end.code or ('torch' in sys.modules) * 3)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_curves_read_together_are_those_read_one_by_one(tmp_path: Path) -> None:
    store = Store(half(tmp_path / "s.db"))
    done = [record for record in store.records(study="demo", curves=True) if record.result]
    assert len(done) == 4
    assert all((record.result or {})["curves"] == store.curves(record.id) for record in done)
    assert len(store.curves(done[0].id)["validation_loss"]) == 4
    assert store.curves("nobody") == {"step": []}
    store.close()


def test_a_page_of_too_many_runs_keeps_the_best_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [*records_of("attention"), *records_of("mamba")]
    monkeypatch.setattr("recollect.report.page.CURVES", 6)
    monkeypatch.setattr("recollect.report.page.ROWS", 40)
    value = page(Contents(Store(fill(tmp_path / "many.db", runs))))
    drawn = [run for run in value.runs if run["curves"]]
    best = {index: cell["lr"] for index, cell in enumerate(value.cells)}
    assert len(runs) == 60
    assert len(value.runs) == 40
    assert len(drawn) == 6
    assert all(run["lr"] == best[run["cell"]] for run in drawn)
    assert sum(cell["runs"] for cell in value.cells) == sum(value.statuses.values()) == 60
    assert "40 of 60 runs are listed" in html(value)
    assert "6 of 60 runs have their curves" in html(value)


def test_a_page_of_few_runs_leaves_nothing_out(tmp_path: Path) -> None:
    assert page(Contents(Store(fill(tmp_path / "few.db", records_of())))).limits == ""


def test_a_dollar_in_a_name_begins_no_formula(tmp_path: Path) -> None:
    name, runs = "costs $\\frac{ more", records_of(seeds=(1,))
    path = fill(tmp_path / "s.db", runs)
    store = Store(path, create=True)
    store.link(name, "", {run.id: name for run in runs})
    write_report(Contents(store), tmp_path / "out", ["svg"])
    (drawn,) = (tmp_path / "out").glob("*.svg")
    assert "10" in drawn.read_text()
