"""One figure kind, one record: every kind of `FIGURES` is drawn, charted and documented."""

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from recollect.errors import BadInput
from recollect.report import FIGURES, draw_figure, save
from recollect.report import heatmap as heatmap_room
from recollect.report import kind as kind_room
from recollect.report.axes import empty
from recollect.report.charts import Charts
from recollect.report.figures import draw_runs
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.layout import Print
from recollect.report.map import Square, draw_map, window_map
from recollect.report.page import figure_kind
from recollect.report.strip import ROOM, TABLE
from recollect.report.style import COLUMN
from recollect.report.write import write_report
from recollect.store import Contents, Record, Store
from recollect.studies import STUDIES
from recollect.window.select import window_of
from tests.support.invented import LRS, fill, record_of, records_of
from tests.support.places import ROOT

SMALL = Print(3.25, 2, title=False, note=False)
SERIES = [("whole", "mamba"), ("less", "mamba"), ("attention", "attention")]


def grid() -> list[tuple[str, Record]]:
    """Two mixers at two widths."""
    return [
        (mixer, record)
        for mixer in ("attention", "mamba")
        for width in (8, 16)
        for record in records_of(mixer, LRS[1::4], model__d_model=width)
    ]


def words(figure: Figure) -> str:
    """All text of a figure, in one line."""
    found = [figure.get_suptitle(), figure.get_supxlabel()]
    for axes in figure.axes:
        found += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *(text.get_text() for text in axes.texts)]
    for legend in (legend for part in figure.subfigs for legend in part.legends):
        found += [text.get_text() for text in legend.get_texts()]
    return " ".join(found).replace("\n", " ")


@pytest.mark.parametrize("kind", FIGURES)
def test_every_kind_is_drawn_with_title_floors_budget_seeds_and_scale(kind: str, tmp_path: Path) -> None:
    figure = draw_figure(kind, grid(), "The title", "smoke", Print(COLUMN))
    text = words(figure)
    for word in ("The title", "budget 12 steps", "3 seeds", "scale smoke"):
        assert word in text
    if kind not in ("bands", "effects", "heatmap", "lengths", "map", "strip"):
        assert "1/K" in text
    files = save(figure, tmp_path, kind, ("pdf", "svg", "png"))
    assert all(file.stat().st_size > 2000 for file in files)
    assert figure.get_size_inches()[0] == COLUMN


@pytest.mark.parametrize("kind", FIGURES)
def test_every_kind_fits_a_column_without_title_and_note(kind: str) -> None:
    figure = draw_figure(
        kind, grid(), "The title", "smoke", replace(SMALL, panels=("accuracy",) if kind == "heatmap" else ("main",))
    )
    assert tuple(figure.get_size_inches()) == (3.25, 2)
    assert "The title" not in words(figure)
    assert "budget" not in words(figure)
    assert all(not axes.child_axes for axes in figure.axes)


def test_a_figure_too_small_for_its_panels_is_refused() -> None:
    with pytest.raises(BadInput, match=r"^--width, --height: 3.25 x 2 inches are too few for 6 panels and their names"):
        draw_figure("heatmap", grid(), "t", "smoke", SMALL)


@pytest.mark.parametrize("kind", FIGURES)
def test_every_named_panel_of_a_kind_can_be_drawn_and_others_are_refused(kind: str) -> None:
    for name in FIGURES[kind].parts:
        FIGURES[kind].check((name,))
        assert draw_figure(kind, grid(), "t", "smoke", Print(panels=(name,))).axes
    with pytest.raises(BadInput, match=f"^--panel: a figure of kind '{kind}' has no 'middle'; it has main"):
        FIGURES[kind].check(("middle",))


def test_a_legend_stands_outside_of_the_panels_and_shows_markers() -> None:
    for width in (3.25, 5.5):
        figure = draw_figure("lr", grid(), "t", "smoke", Print(width))
        (legend,) = figure.subfigs[0].legends
        assert all(axes.get_legend() is None for axes in figure.axes)
        assert {"attention", "mamba", "1/K"} <= {text.get_text() for text in legend.get_texts()}
        assert [line.get_marker() for line in legend.get_lines()[:2]] == ["o", "s"]
        box = legend.get_window_extent().transformed(figure.transFigure.inverted())
        assert box.x0 >= -0.01
        assert box.x1 <= 1.01
        assert not any(box.overlaps(axes.get_position()) for axes in figure.axes)


def test_a_style_sheet_of_ones_own_is_laid_over_ours(tmp_path: Path) -> None:
    sheet = tmp_path / "mine.mplstyle"
    sheet.write_text("axes.labelsize: 11\nlines.linewidth: 3\n")
    axes = draw_figure("lr", grid(), "t", "smoke", Print(style=(str(sheet),))).axes[0]
    assert axes.xaxis.label.get_size() == 11
    assert max(line.get_linewidth() for line in axes.lines) == 3
    with pytest.raises(BadInput, match=r"^--style: no style sheet 'nobody'"):
        Print(style=("nobody",)).check()
    with pytest.raises(BadInput, match=r"^--width: must be from 1 to 40 inches \(got 0.5\)"):
        Print(0.5).check()


@pytest.mark.parametrize("kind", FIGURES)
def test_every_kind_is_charted_on_the_page(kind: str) -> None:
    charts = FIGURES[kind].charts(Charts.of(SERIES))
    assert charts
    for chart in charts:
        assert set(chart) == {"source", "about", "spec"}
        assert chart["source"] in ("runs", "cells", "points")
        json.dumps(chart, allow_nan=False)


@pytest.mark.parametrize("kind", FIGURES)
def test_an_empty_figure_says_so(kind: str) -> None:
    assert "no finished run" in words(draw_figure(kind, [], "The title", "smoke"))


@pytest.mark.parametrize("kind", FIGURES)
def test_only_a_kind_that_chooses_tells_how_it_chose(kind: str) -> None:
    runs = FIGURES[kind].runs(grid(), "smoke", "test")
    assert ("lr chosen on the test rows" in runs.note) == FIGURES[kind].chooses == (runs.select == "test")


@pytest.mark.parametrize("kind", FIGURES)
def test_only_a_kind_that_crosses_takes_the_cells_of_a_label_together(kind: str) -> None:
    titles = set()
    for panel in FIGURES[kind].drawn(Runs.of(grid(), "smoke")):
        panel.draw(axes := Figure().add_subplot())
        titles.add(axes.get_title().split(", ")[-1])
    assert FIGURES[kind].crosses == (not {"d=8", "d=16"} <= titles)


def test_lengths_show_learning_rates_and_outcomes_on_the_page() -> None:
    charts = Charts.of(SERIES)
    assert list(FIGURES["lengths"].charts(charts)) == [charts.lr(), charts.bands()]


@pytest.mark.parametrize("kind", FIGURES)
def test_the_note_of_a_figure_is_computed_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_notes(monkeypatch)
    FIGURES[kind].drawn(FIGURES[kind].runs(grid(), "smoke", "validation"))
    assert len(asked) == 1


def test_page_and_print_take_the_same_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(fill(tmp_path / "s.db", records_of(lrs=LRS[1::4]), "fig1"))
    asked = count_notes(monkeypatch)
    write_report(Contents(store), tmp_path / "out", ("html", "svg"))
    store.close()
    assert len(asked) == 1
    assert asked[0] in (tmp_path / "out" / "report.html").read_text()


def count_notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes that are made from now on."""
    made: list[str] = []

    def noted(*given: object) -> str:
        made.append(real(*given))  # type: ignore[arg-type]
        return made[-1]

    real = kind_room.note
    for room in (kind_room, heatmap_room):
        monkeypatch.setattr(room, "note", noted)
    return made


def test_an_unknown_kind_is_refused_by_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sentence = "^figure: unknown name 'widht'; did you mean 'width'\\?$"
    with pytest.raises(BadInput, match=sentence):
        draw_figure("widht", [], "", "")
    store = Store(fill(tmp_path / "s.db", records_of(lrs=LRS[:1]), "fig1"))
    monkeypatch.setattr("recollect.report.page.figure_kind", lambda study, records: "widht")
    with pytest.raises(BadInput, match=sentence):
        write_report(Contents(store), tmp_path, ("html",))
    store.close()


def test_every_study_has_a_registered_kind() -> None:
    assert {study.figure for study in STUDIES.values()} <= set(FIGURES)


def test_a_sweep_file_shows_learning_rates_where_they_vary_and_else_dynamics() -> None:
    assert figure_kind("mine", records_of()) == "lr"
    assert figure_kind("mine", records_of(lrs=LRS[:1])) == "dynamics"


def test_the_documents_list_exactly_the_registered_kinds() -> None:
    (table,) = re.findall(
        r"\| kind \| shows \|\n\|---\|---\|\n((?:\|.*\n)+)", (ROOT / "docs" / "figures.md").read_text()
    )
    listed = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(FIGURES)


def test_a_kind_of_ones_own_is_one_record() -> None:
    def runs_at(runs: Runs, title: str) -> dict[str, int]:
        return {title: len(runs.records)}

    mine = FigureKind(
        "mine",
        value=runs_at,
        panels=lambda value: [Panel(partial(empty)) for _ in value],
        charts=lambda page: [page.lr()],
    )
    runs = mine.runs(grid(), "smoke", "test")
    assert "chosen" not in runs.note
    assert len(draw_runs(mine, runs, "t").axes) == 2
    assert len(draw_runs(replace(mine, crosses=True), runs, "t").axes) == 1


def test_print_figures_do_not_need_altair() -> None:
    code = "import sys, recollect.report; sys.exit('altair' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_map_has_a_square_a_cell_with_the_interval_of_its_window() -> None:
    split, shared = records_of(task__vocabulary="split"), records_of(task__vocabulary="shared")
    longer = records_of(task__vocabulary="split", task__length=12, lrs=LRS[:2])
    never = [record_of(run.spec, 0.2, "guessing") for run in shared]
    runs = [("split", run) for run in [*longer, *split]] + [("shared", run) for run in never]
    value = window_map(runs, "", "laptop")
    assert value.rows == ("split", "shared")
    assert value.columns == ("L=8", "L=12")
    (found, too_few), (none, absent) = value.squares
    window = window_of(split)
    assert window is not None
    assert window.width is not None
    assert found == Square(window.width.value, window.width.low, window.width.high, len(split))
    assert (too_few, absent) == (None, None)
    assert none == Square(0.0, 0.0, 0.0, len(never))
    assert none.words().startswith("none")
    always = [record_of(run.spec, 0.99, "solved") for run in split]
    ((wide,),) = window_map([("split", run) for run in always], "", "laptop").squares
    assert wide is not None
    assert (wide.high, wide.words()[0]) == (math.inf, "≥")
    axes = Figure().subplots()
    draw_map(value, axes)
    assert sorted(text.get_text() for text in axes.texts) == sorted(["-", "-", found.words(), none.words()])


def test_a_strip_has_a_bar_and_a_line_of_the_table_for_every_model() -> None:
    figure = draw_figure("strip", grid(), "t", "smoke")
    bars, table = figure.axes
    names = [tick.get_text() for tick in bars.get_yticklabels()]
    told = [text.get_text() for text in table.texts]
    assert len(names) == len(set(names)) > 1
    lines = 1 + len(names)
    assert told[::lines] == [head for head in ROOM if head != "MB"]
    assert len(told) == lines * (len(ROOM) - 1)
    ends = [text.get_position()[0] for text in table.texts[::lines]]
    assert ends == sorted(set(ends))
    assert ends[-1] == 1.0


def test_a_strip_in_one_column_of_a_paper_leaves_its_table_to_the_tables() -> None:
    (bars,) = draw_figure("strip", grid(), "t", "smoke", Print(COLUMN)).axes
    _, wide = draw_figure("strip", grid(), "t", "smoke", Print(TABLE)).axes[:2]
    assert not bars.texts
    assert "accuracy" in [text.get_text() for text in wide.texts]
    assert bars.get_position().x1 > 0.95
