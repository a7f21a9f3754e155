"""Tables: numbers in the CSV, words for readers."""

import io
from dataclasses import replace

import pandas as pd
import pytest

from recollect.report.cells import cell_rows
from recollect.report.tables import cell_table, table_text, window_text
from recollect.store import Record
from tests.support.invented import LRS, record_of, records_of
from tests.support.small import tiny

CELLS = [*records_of("attention"), *records_of("mamba", LRS[4:5])]


def test_the_csv_has_every_number_of_a_cell() -> None:
    frame = pd.read_csv(io.StringIO(table_text(cell_rows(CELLS), "csv")))
    assert list(frame["mixer"]) == ["attention", "mamba"]
    first = frame.iloc[0]
    assert first["mean"] == 0.995
    assert first["sd"] == pytest.approx(0, abs=1e-12)
    assert (first["min"], first["max"], first["n_seeds"], first["runs"], first["done"]) == (0.995, 0.995, 3, 30, 30)
    assert first["window_low"] == pytest.approx(10**-3.4, rel=0.4)
    assert first["window_decades_low"] < first["window_decades"] < first["window_decades_high"]
    assert pd.isna(frame.iloc[1]["window_decades"])


def test_steps_until_solved_and_the_time_of_a_step_stand_in_every_table() -> None:
    spec = CELLS[0].spec
    slow, fast = (
        replace(record_of(spec.at(1e-3, seed), 0.995, "solved"), seconds=seconds, provenance={"host": "a"})
        for seed, seconds in ((1, 3.0), (2, 1.0))
    )
    results = [{**(run.result or {}), "steps": steps} for run, steps in ((slow, 300), (fast, 100))]
    runs = [replace(run, result=result) for run, result in zip((slow, fast), results, strict=True)]
    frame = cell_table(cell_rows(runs))
    assert list(frame.iloc[0][["solved_after", "ms_per_step"]]) == [200, 10]
    assert table_text(cell_rows(runs), "markdown").splitlines()[2].endswith(" | 10.0 |")
    apart = [runs[0], replace(runs[1], provenance={"host": "b"})]
    assert cell_table(cell_rows(apart)).iloc[0]["ms_per_step"] is None


def test_the_markdown_table_has_a_line_per_cell() -> None:
    lines = table_text(cell_rows(CELLS), "markdown").splitlines()
    assert len(lines) == 4
    head = "| model | task | d | layers | test accuracy | sd | min-max | seeds | best lr | window |"
    assert lines[0] == f"{head} solved after | state | parameters | ms a step |"
    assert "| attention | MQAR V=20 L=8 K=2 | 8 | 1 | 99.5 | 0.0 | 99.5-99.5 | 3 | 0.00178 |" in lines[2]
    assert "decades" in lines[2]


def test_the_latex_table_has_rules_and_escapes() -> None:
    rows = cell_rows(CELLS, {record.id: "a_b & 50%" for record in CELLS})
    text = table_text(rows, "latex")
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in text
    assert r"a\_b \& 50\%" in text


def test_the_latex_table_pastes_into_a_paper() -> None:
    first, *lines = table_text(cell_rows(CELLS), "latex").splitlines()
    assert first.startswith(r"% \usepackage{booktabs}")
    assert lines[0] == "% in all rows: task MQAR V=20 L=8 K=2, $d$ 8, layers 1, seeds 3"
    assert r"model & accuracy (\%) & best lr & window \\" in lines
    assert r"attention & $99.5 \pm 0.0$ & 0.0018 & 1.5 [1.3, 1.7] \\" in lines
    assert r"mamba & $99.5 \pm 0.0$ & 0.001 & -- \\" in lines
    (one,) = table_text(cell_rows(CELLS[:1]), "latex").splitlines()[5:6]
    assert r"\pm" not in one
    always = [record_of(record.spec, 0.99, "solved") for record in CELLS[:30]]
    assert r"$\geq$ 2.2 \\" in table_text(cell_rows(always), "latex")


def test_bars_in_a_name_do_not_break_the_markdown_table() -> None:
    rows = cell_rows(CELLS, {record.id: "a|b" for record in CELLS})
    assert r"| a\|b |" in table_text(rows, "markdown")


def test_a_cell_without_a_finished_run_has_a_line_without_numbers() -> None:
    record = CELLS[0]
    waiting = Record(record.id, record.cell, record.spec, "pending", None, 0, None, None, {}, None)
    rows = cell_rows([waiting])
    assert "no finished run" in table_text(rows, "markdown")
    assert cell_table(rows).iloc[0]["done"] == 0
    assert table_text([], "csv").startswith("cell,model,mixer")


def test_a_cell_that_never_solves_has_no_window() -> None:
    rows = cell_rows(records_of("attention", LRS[:3]))
    assert window_text(rows[0].window) == "none; never solved"


def test_a_step_takes_what_it_takes_when_nothing_disturbs_it_and_one_machine_tells() -> None:
    runs = [record_of(tiny(seed=seed, train__steps=100), 0.9, "partial") for seed in range(3)]
    timed = [replace(run, seconds=seconds) for run, seconds in zip(runs, (4.0, 1.0, 2.0), strict=True)]
    assert [row.milliseconds for row in cell_rows(timed)] == [10.0]
    elsewhere = [replace(timed[0], provenance={"host": "there"}), *timed[1:]]
    assert [row.milliseconds for row in cell_rows(elsewhere)] == [None]
