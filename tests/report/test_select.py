"""The learning rate is chosen on validation rows, the accuracy reported on test rows."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from recollect.cli import main
from recollect.store import Record
from recollect.window.select import choose, how_chosen, narrowest
from tests.support.invented import fill, record_of
from tests.support.small import tiny


def told(lr: float, seed: int, validation: float, test: float) -> Record:
    """A run with these two accuracies."""
    record = record_of(tiny(train__lr=lr, seed=seed), test, "partial")
    return replace(record, result={**(record.result or {}), "validation_accuracy": validation})


RUNS = [told(0.1, 1, 0.9, 0.6), told(0.1, 2, 0.7, 0.8), told(0.2, 1, 0.6, 0.95), told(0.2, 2, 0.7, 0.97)]


def test_validation_chooses_and_test_is_reported() -> None:
    choice = choose(RUNS)
    assert choice is not None
    assert choice.lr == 0.1
    assert choice.accuracies == (0.6, 0.8)
    assert choice.mean == pytest.approx(0.7)
    assert choice.sd == pytest.approx(0.1414, abs=1e-4)
    assert how_chosen(choice.select) == ""


def test_choosing_on_the_test_rows_is_an_option_with_a_label() -> None:
    choice = choose(RUNS, "test")
    assert choice is not None
    assert choice.lr == 0.2
    assert how_chosen(choice.select) == "lr chosen on the test rows"


def test_a_rate_that_a_search_found_was_not_chosen_on_the_test_rows() -> None:
    searched = [replace(run, tells="accuracy" if run.spec.train.lr == 0.1 else "window") for run in RUNS]
    choice = choose(searched, "test")
    assert choice is not None
    assert (choice.lr, choice.select) == (0.1, "validation")
    assert how_chosen("test", searched) == ""
    other = [record_of(tiny(model__d_model=16, seed=seed), 0.5, "partial") for seed in (1, 2)]
    assert how_chosen("test", [*searched, *other]) == "lr chosen on the test rows, but where it was searched"
    assert how_chosen("test", RUNS) == "lr chosen on the test rows"


def test_the_middle_of_equally_good_learning_rates_is_chosen() -> None:
    choice = choose([told(lr, 1, 1.0, 1.0) for lr in (0.1, 0.2, 0.3)])
    assert choice is not None
    assert choice.lr == 0.2
    assert choice.sd is None


def test_what_is_not_finished_is_not_chosen() -> None:
    assert choose([]) is None
    assert choose([replace(RUNS[0], status="failed", result=None)]) is None


def test_the_narrowest_cell_that_recalls_is_looked_at_and_else_the_widest() -> None:
    cells = {
        width: [record_of(tiny(model__d_model=width, seed=seed), 0.5, "partial") for seed in (1, 2)]
        for width in (32, 8, 16)
    }
    runs = [run for found in cells.values() for run in found]
    assert narrowest(runs) == cells[32]
    solved = {width: [record_of(run.spec, 0.95, "partial") for run in cells[width]] for width in (32, 16)}
    assert narrowest([*solved[32], *cells[8], *solved[16]]) == solved[16]
    assert narrowest([replace(runs[0], status="failed", result=None)]) == []


@pytest.mark.parametrize(("rows", "lr", "mean"), [("validation", 0.1, 0.7), ("test", 0.2, 0.96)])
def test_a_report_chooses_as_it_is_asked(rows: str, lr: float, mean: float, tmp_path: Path) -> None:
    path, out = fill(tmp_path / "s.db", RUNS, "table2", "laptop"), tmp_path / "out"
    with pytest.raises(SystemExit) as end:
        main(["report", "--store", str(path), "--select", rows, "--format", "csv", "svg", "html", "--out", str(out)])
    assert end.value.code == 0
    for table in ("table2.csv", "cells.csv"):
        (row,) = pd.read_csv(out / table).to_dict("records")
        assert (row["lr"], row["selected"], row["mean"]) == (lr, rows, pytest.approx(mean))
    assert f"is chosen on {rows} rows" in (out / "report.html").read_text()
    for file, words in (("table2.svg", "chosen on"), ("report.html", "lr chosen on")):
        assert (words in (out / file).read_text()) == (rows == "test")


def test_one_lucky_seed_does_not_beat_the_seeds_of_another_rate() -> None:
    """Which is what the other seeds at the best rate of the first one would otherwise be judged by."""
    first = [told(0.1, 1, 0.9, 0.9), told(0.2, 1, 0.9, 0.9), told(0.3, 1, 0.8, 0.8)]
    chosen = choose(first)
    assert chosen is not None
    assert chosen.lr == 0.1
    after = choose([*first, told(0.1, 2, 0.7, 0.7), told(0.1, 3, 0.5, 0.5)])
    assert after is not None
    assert (after.lr, after.seeds) == (0.1, (1, 2, 3))
    assert after.mean == pytest.approx(0.7)


def test_rates_without_a_common_seed_are_compared_by_what_they_have() -> None:
    choice = choose([told(0.1, 1, 0.6, 0.6), told(0.1, 2, 0.8, 0.8), told(0.2, 3, 0.75, 0.75)])
    assert choice is not None
    assert choice.lr == 0.2
