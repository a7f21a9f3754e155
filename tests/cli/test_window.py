"""`recollect window`: searching, resuming, comparing, and what it prints and draws."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.cli.display.plot import plot
from recollect.report.window import window_figure
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec
from recollect.store import Store
from recollect.window import CellSearch, Found, Search, Searches, measure, readings
from tests.cli.test_cli import TINY_SETS, call, set_words
from tests.support.invented import result_of
from tests.support.places import TROUBLE
from tests.support.small import TINY, tiny
from tests.support.synthetic import TRUTHS, Truth, run_search

Capsys = pytest.CaptureFixture[str]
FAST = TINY | {"train.steps": 2}
QUICK = [*set_words(FAST), "--executor", "inline"]
NARROW, WIDE, HOLED = TRUTHS[3], TRUTHS[4], TRUTHS[7]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not look at the figure, which takes seconds."""
    monkeypatch.setattr(
        "recollect.cli.display.found.save_windows", lambda value, folder, name, how: [folder / f"{name}.png"]
    )


undrawn = pytest.mark.usefixtures("_undrawn")


def fill(spec: RunSpec, truth: Truth, max_runs: int = 30, path: str = "recollect.db") -> int:
    """Put the runs of a search for a known window into a store; how many there are."""
    store, middle = Store(Path(path), create=True), sum(truth.edges()) / 2
    seen = run_search(truth, Search(max_runs=max_runs), world=1000)
    for reading in seen:
        run = spec.at(reading.lr, reading.seed)
        outcome = "solved" if reading.accuracy else "stuck at ln K" if reading.x < middle else "diverged"
        result = result_of(run, reading.accuracy, outcome)
        result |= {"floors": {"1/K": 0.5}, "curves": {"step": [0], "validation_loss": [2.0]}}
        store.add([run])
        store.start(run.id, {})
        store.finish(run.id, result, 1.0)
    store.close()
    return len(seen)


def fast(mixer: str, **fields: object) -> RunSpec:
    return make_spec("mqar", mixer, FAST | {key.replace("__", "."): value for key, value in fields.items()})


def stored(spec: RunSpec) -> list[int]:
    return sorted(record.spec.seed for record in Store(Path("recollect.db")).records(cell=spec.cell, status="done"))


@undrawn
def test_a_search_trains_what_it_wants_and_a_longer_one_goes_on(capsys: Capsys) -> None:
    for max_runs in (3, 5):
        code, out, err = call(capsys, "window", "mqar", "attention", *QUICK, "--max-runs", str(max_runs))
        assert code == 0
        assert f"From {max_runs} runs at {max_runs} learning rates" in out
        assert "store recollect.db" in err
        assert stored(fast("attention")) == list(range(max_runs))
    (study,) = json.loads(call(capsys, "status", "--json")[1])["studies"]
    assert (study["study"], study["statuses"]["done"], study["total"]) == ("window", 5, 5)


def test_runs_of_the_store_are_used_wherever_they_come_from(capsys: Capsys) -> None:
    runs = fill(fast("attention"), WIDE)
    code, out, _ = call(capsys, "window", "mqar", "attention", *QUICK, "--max-runs", str(runs))
    assert code == 0
    records = Store(Path("recollect.db")).records(curves=True)
    found = measure(readings(records, records[0].cell), steps=2, low=1e-5, high=1e-1)
    assert len(records) == runs
    assert str(found) in " ".join(out.split())
    assert f"as well as these {runs} runs." in " ".join(out.split())
    assert plot(found, 80).rpartition("\n")[0] in out
    assert "figure: figures/window-mqar-attention.png (also pdf, svg)" in out
    assert {file.suffix for file in Path("figures").iterdir() if file.stat().st_size > 1000} == {".png", ".pdf", ".svg"}


@undrawn
def test_several_cells_are_compared_in_a_table_and_by_probability(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    runs = [fill(fast("attention"), WIDE), fill(fast("lstm"), NARROW)]
    words = ("window", "mqar", "attention", "lstm", *QUICK, "--max-runs", str(min(runs)))
    out = call(capsys, *words)[1]
    assert "probability that the window of the row is wider" in out
    assert len([line for line in out.splitlines() if line.startswith("attention  1 x 8")]) == 1
    (line,) = (line for line in out.splitlines() if line.startswith("attention: "))
    assert "% solved" in line
    assert "% diverged" in line
    (row,) = (line.split() for line in out.splitlines() if line.startswith("lstm   ") and "x" not in line)
    assert row[0] == "lstm"
    assert float(row[1].lstrip("<")) <= 0.03, "a dozen runs of either tell no more"
    plain = json.loads(call(capsys, *words, "--json")[1])
    assert [cell["label"] for cell in plain["cells"]] == ["attention", "lstm"]
    assert plain["wider"][0][1] > 0.97
    for cell, truth in zip(plain["cells"], (WIDE, NARROW), strict=True):
        lower, upper = truth.edges()
        assert math.log10(cell["lower"]["value"]) == pytest.approx(lower, abs=0.15)
        assert math.log10(cell["upper"]["value"]) == pytest.approx(upper, abs=0.15)
        assert sum(cell["outcomes"].values()) == pytest.approx(1)
        assert cell["even_grid_runs"] > cell["n_runs"]
    assert plain["figure"] == ["figures/window-mqar-attention-lstm.png"]


def test_a_varied_field_has_a_search_a_value_and_a_table_of_what_it_does(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    fill(fast("mamba"), NARROW)
    fill(fast("mamba", train__lr_dynamics=0.1), WIDE)
    words = ("window", "mqar", "mamba", *QUICK, "--vary", "train.lr_dynamics=0.1,1", "--max-runs", "12")
    code, out, _ = call(capsys, *words)
    assert code == 0
    told = out.partition("what each change does")[2]
    assert {"widening", "shift", "accuracy", "against", "lr_dynamics"} <= set(told.split())
    assert [line.endswith(" (also pdf, svg)") for line in told.splitlines() if line.startswith("figure: ")] == [
        True,
        True,
    ]
    plain = json.loads(call(capsys, *words, "--json")[1])
    assert [cell["label"] for cell in plain["cells"]] == ["mamba", "mamba, lr_dynamics 0.1"]
    (effect,) = plain["effects"]
    assert (effect["label"], effect["against"]) == ("mamba, lr_dynamics 0.1", "mamba")
    (low, high), (lower, upper) = NARROW.edges(), WIDE.edges()
    assert effect["widening"]["value"] == pytest.approx((upper - lower) - (high - low), abs=0.25)
    assert effect["shift"]["value"] == pytest.approx((upper + lower - high - low) / 2, abs=0.2)
    assert effect["widening"]["above_zero"][0] > 0.97
    assert "figures/window-mqar-mamba-mamba-lr_dynamics-0.1-effects.png" in plain["figure"]
    assert Path(plain["figure"][-1]).stat().st_size > 5000


@undrawn
def test_an_option_that_only_one_mixer_has_is_varied_there_alone(capsys: Capsys) -> None:
    words = ("--vary", "model.mixer.norms=bc,bcdt", "--dry-run")
    code, out, _ = call(capsys, "window", "mqar", "mamba", "attention", *QUICK, *words)
    assert code == 0
    cells = [line.split(":")[0].strip() for line in out.splitlines() if "runs are there" in line]
    assert cells == ["mamba, norms bc", "mamba, norms bcdt", "attention"]


@undrawn
def test_an_open_end_is_null_in_json(capsys: Capsys) -> None:
    fill(fast("attention"), replace(WIDE, a=-7.0))
    plain = json.loads(call(capsys, "window", "mqar", "attention", *QUICK, "--max-runs", "20", "--json")[1])
    (cell,) = plain["cells"]
    assert cell["lower"]["low"] is None
    assert cell["width"]["high"] is None
    assert "window open to the left" in cell["flags"]


@undrawn
def test_ctrl_c_says_how_to_go_on_and_the_begun_run_comes_first(
    capsys: Capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.cli.display.board import Watcher
    from recollect.spec.events import Event, Started

    heard: list[Event] = []

    def stop(self: Watcher, event: Event) -> None:
        heard.append(event)
        if [type(event) for event in heard].count(Started) == 3:
            raise KeyboardInterrupt

    words = ("window", "mqar", "attention", *QUICK, "--max-runs", "4")
    with monkeypatch.context() as patch:
        patch.setattr(Watcher, "hear", stop)
        patch.setattr("sys.argv", ["recollect", *words])
        code, out, err = call(capsys, *words)
    assert (code, out) == (130, "")
    assert "go on with: recollect window mqar attention" in err
    assert stored(fast("attention")) == [0, 1]
    assert call(capsys, *words)[0] == 0
    assert stored(fast("attention")) == [0, 1, 2, 3]
    begun = next(event.run for event in reversed(heard))
    record = Store(Path("recollect.db")).record(begun)
    assert record is not None
    assert (record.status, record.attempt) == ("done", 2)


def test_searches_serve_the_cell_with_fewest_runs_and_what_was_begun() -> None:
    search, begun = Search(max_runs=4), tiny("lstm", seed=77, train__lr=1e-3)
    cells = tuple(CellSearch(tiny(mixer), search) for mixer in ("attention", "lstm"))
    names = [spec.model.mixers[0].name for spec in Searches(cells, at_once=5).next([], [])]
    assert names == ["attention", "lstm", "attention", "lstm", "attention"]
    first, *rest = Searches(cells, at_once=3, begun=(begun,)).next([], [])
    assert first == begun
    assert [spec.model.mixers[0].name for spec in rest] == ["attention", "attention"]
    planner = Searches(cells, at_once=3, begun=(begun,))
    assert len(planner.next([], [first, rest[0]])) == 1
    everything = Searches(cells, at_once=99).next([], [])
    assert len(everything) == len({spec.id for spec in everything}) == 8
    assert Searches(cells, at_once=99).next([], everything) == []


@undrawn
def test_layers_that_are_all_alike_are_the_same_cell(capsys: Capsys) -> None:
    words = ("window", "mqar", "attention,attention", "lstm", *QUICK, "--set", "model.mixer.n_heads=2")
    assert call(capsys, *words, "--max-runs", "1")[0] == 0
    assert stored(fast("attention", model__n_layers=2, model__mixer__n_heads=2)) == [0]
    assert stored(fast("lstm")) == [0]


def test_a_dry_run_names_the_next_runs_and_writes_nothing(capsys: Capsys, tmp_path: Path) -> None:
    code, out, _ = call(capsys, "window", "mqar", "attention", "lstm", *QUICK, "--dry-run")
    assert code == 0
    assert "at most 80 runs in 2 cells" in out
    assert "attention: 0 runs are there; the next ones are at lr 0.001, 0.0001, 0.01," in out
    assert "time: about " in out
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_raises_is_exit_code_1(capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "trouble.py").write_text(TROUBLE.read_text())
    words = ("window", "mqar", "trouble.py:Trouble", *TINY_SETS, "--set", "model.mixer.kind=raise")
    code, out, err = call(capsys, *words, "--executor", "inline", "--max-runs", "2")
    assert code == 1
    assert out == "trouble.py:Trouble: no finished run\n"
    assert err.count("trouble in mid-training") == 2


def test_help_teaches_by_examples(capsys: Capsys) -> None:
    code, out, _ = call(capsys, "window", "--help")
    assert code == 0
    assert out.count("recollect window mqar ") == 4
    assert call(capsys, "--help")[1].count("recollect window") == 0


BAD = {
    "no mixer": ([], "name at least one mixer"),
    "an unknown mixer": (["atention"], "did you mean 'attention'?"),
    "the same twice": (["lstm", "lstm"], "'lstm' names a model that is already there"),
    "a range upside down": (
        ["lstm", "--low", "0.1", "--high", "0.01"],
        "0 < low < high, both finite (got 0.1 and 0.01)",
    ),
    "a narrow range": (["lstm", "--low", "0.01", "--high", "0.02"], "less than half a decade"),
    "no runs": (["lstm", "--max-runs", "0"], "max_runs must be >= 1"),
    "no tolerance": (["lstm", "--tolerance", "0"], "tolerance must be > 0"),
    "a negative seed": (["lstm", "--first-seed", "-1"], "first seed must be >= 0"),
    "a threshold above 1": (["lstm", "--threshold", "1.5"], "an accuracy in (0, 1]"),
    "a stop below the threshold": (["lstm", "--set", "train.stop_accuracy=0.8"], "stops at accuracy 0.8"),
    "a fixed lr": (["lstm", "--set", "train.lr=0.1"], "train.lr is what the search chooses; give its range by --low"),
    "a fixed seed": (["lstm", "--set", "seed=1"], "seed is what the search chooses"),
    "an unknown field": (["lstm", "--set", "task.lenght=9"], "did you mean 'task.length'?"),
    "an unknown option of all": (["lstm", "attention", "--set", "model.mixer.n_head=2"], "model.mixer.n_head"),
    "an unknown protocol": (["lstm", "--protocol", "lap"], "laptop"),
    "no workers": (["lstm", "--workers", "0"], "--workers: must be at least 1"),
    "a figure in a file": (["lstm", "--out", "here"], "--out: here is not a directory"),
    "one value to vary": (["lstm", "--vary", "train.lr_norms=1"], "give two values or more; --set gives one"),
    "the same value twice": (["lstm", "--vary", "train.lr_norms=1,1.0"], "give every value once (got 1.0 twice)"),
    "nothing to vary": (["lstm", "--vary", "train.lr_norms"], "write field=value,value"),
    "an unknown field to vary": (["lstm", "--vary", "train.lr_norm=1,2"], "did you mean 'train.lr_norms'?"),
    "the lr to vary": (["lstm", "--vary", "train.lr=1,2"], "train.lr is what the search chooses"),
    "dynamics that are not there": (["lstm", "--vary", "train.lr_dynamics=1,2"], "lstm has no dynamics"),
    "a fixed rate of what is not there": (
        ["lstm", "--vary", "train.fixed_lr_dynamics=null,1e-3"],
        "lstm has no dynamics",
    ),
    "a value in two ways": (["lstm", "--vary", "train.lr_norms=1,0.001,'0.001'"], "two of the values mean the same"),
    "values that change nothing": (
        ["attention,lstm", "--vary", "model.n_layers=3,4"],
        "its values make no difference to attention,lstm",
    ),
    "a field set and varied": (
        ["lstm", "--set", "train.lr_norms=2", "--vary", "train.lr_norms=1,3"],
        "it is given a value already, 2; leave one out",
    ),
    "values that do not end": (["lstm", "--vary", "train.lr_norms=1,{2"], "cannot read the values"),
    "a value that does not end": (["lstm", "--set", "train.lr_norms={2"], "cannot read the value"),
    "a day for a number": (["lstm", "--vary", "train.lr_norms=1,2020-13-45"], "as a number (got '2020-13-45')"),
    "a day for a number, set": (["lstm", "--set", "train.lr_norms=2020-13-45"], "as a number (got '2020-13-45')"),
    "a word for a number": (["lstm", "--low", "little"], "--low"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_bad_input_is_one_sentence_and_nothing_is_written(
    capsys: Capsys, tmp_path: Path, case: str, dry: list[str]
) -> None:
    (tmp_path / "here").touch()
    words, expected = BAD[case]
    code, out, err = call(capsys, "window", "mqar", *words, *dry)
    assert (code, out) == (2, "")
    assert expected in err
    assert err.startswith("recollect: ")
    assert err.count("\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"here"}


@pytest.mark.parametrize("width", [20, 72, 200])
def test_the_plot_fits_and_marks_the_window_where_it_is(width: int) -> None:
    seen = run_search(WIDE, Search(), world=1000)
    lines = plot(measure(seen, steps=1, low=1e-5, high=1e-1), width).splitlines()[:-1]
    columns = min(max(width, 40), 100)
    assert max(map(len, lines)) <= columns
    (marks,) = (line for line in lines if line.startswith("window |"))
    (ticks,) = (line for line in lines if line.startswith("    lr +"))
    decade = (columns - 10) / 4
    for mark, x in zip("[]", WIDE.edges(), strict=True):
        assert marks.index(mark) == pytest.approx(8 + (x + 5) * decade, abs=1 + 0.1 * decade)
    assert [i for i, letter in enumerate(ticks) if letter == "+"][1:] == [8 + round(decade * i) for i in range(5)]


def test_the_plot_shows_accuracy_solve_rate_holes_and_open_ends() -> None:
    holed = measure(run_search(HOLED, Search(), world=1000), steps=1, low=1e-5, high=1e-1)
    lines = plot(holed, 100).splitlines()
    assert "x" in lines[12]
    assert {"0", "#"} <= set(lines[11])
    assert "*" in lines[0]
    assert "*" in lines[10]
    whole = measure(run_search(replace(WIDE, a=-9.0, b=2.0), Search(), 1000), steps=1, low=1e-5, high=1e-1)
    assert plot(whole, 100).splitlines()[12] == f"window |<{'=' * 89}>"
    never = measure(run_search(replace(WIDE, a=1.0, b=2.0), Search(max_runs=9), 1000), steps=1)
    assert "window |none" in plot(never, 100)


def found_of(mixer: str, truth: Truth) -> Found:
    fill(fast(mixer), truth, path=f"{mixer}.db")
    records = Store(Path(f"{mixer}.db")).records(curves=True)
    window = measure(readings(records, fast(mixer).cell), steps=2, low=1e-5, high=1e-1)
    return Found(mixer, fast(mixer), tuple(records), window, None)


def test_the_figure_knows_every_window_and_why_it_ends() -> None:
    value = window_figure([found_of("attention", WIDE), found_of("lstm", replace(WIDE, b=4.0))])
    assert [panel.label for panel in value.panels] == ["attention", "lstm"]
    for panel in value.panels:
        bands = panel.outcomes
        assert list(bands.shares) == ["solved", "stuck at ln K", "diverged"]
        assert [sum(at) for at in zip(*bands.shares.values(), strict=True)] == pytest.approx([1] * len(bands.lrs))
        assert panel.accuracy.series[0].window == panel.window
    at, diverged = value.panels[0].outcomes.lrs, value.panels[0].outcomes.shares["diverged"]
    assert {share for lr, share in zip(at, diverged, strict=True) if lr > 1e-2} == {1.0}
    assert {share for lr, share in zip(at, diverged, strict=True) if lr < 1e-3} == {0.0}
    assert set(value.panels[1].outcomes.shares["diverged"]) == {0.0}
    assert "2 steps" in value.title
    assert "accuracy ≥ 0.9" in value.title
