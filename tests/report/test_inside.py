"""Figures and the page's section on what was seen inside."""

from pathlib import Path

import numpy as np
import pytest

from recollect.report import draw_figure
from recollect.report.fades import draw_fading
from recollect.report.inside import FadeLine, inside, median_fades
from recollect.report.kind import Runs
from recollect.report.matrices import draw_matrices, stored_matrices
from recollect.report.probes import probe_cards
from recollect.report.write import write_report
from recollect.spec.watch import Watch
from recollect.store import Contents, Store
from recollect.sweep import Grid, sweep
from recollect.sweep.executors import Inline
from tests.support.small import tiny

SEEN, UNSEEN = tiny(model__n_layers=2), tiny("mamba")


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> Contents:
    """Two runs, one of which was looked into."""
    store = Store(tmp_path_factory.mktemp("inside") / "a.db", create=True)
    sweep(Grid([SEEN]), Inline(), store, watch=Watch(looks=4))
    sweep(Grid([UNSEEN]), Inline(), store)
    store.link("fig6", "laptop", {SEEN.id: "attention, 2 layers", UNSEEN.id: "mamba"})
    return Contents(store)


def test_the_figure_has_scores_of_the_runs_that_were_looked_into(contents: Contents) -> None:
    found = inside(Runs.of(contents.labelled("fig6", "laptop"), "laptop"), "")
    assert [curve.label for curve in found.dynamics.curves] == ["attention, 2 layers", "mamba"]
    (line,) = found.scores
    looks = contents.labelled("fig6", "laptop")[0][1].looks
    assert line.steps == sorted(Watch(looks=4).steps(12))
    names = [f"{layer} {score}, best" for layer in (0, 1) for score in ("induction", "behind value")]
    assert line.values == [max(float(looks[name][step]) for name in names) for step in line.steps]
    assert [len(found.fades[kind]) for kind in ("mixing", "gradient")] == [1, 1]
    np.testing.assert_array_equal(found.fades["mixing"][0].after, looks["1 fades"][12])


def test_what_fades_is_the_median_of_a_models_runs_relative_to_the_nearest_token() -> None:
    before, after = np.array([9.0, 2.0, 1.0]), np.array([9.0, 4.0, 4.0])
    lines = [FadeLine("a", "mamba", factor * before, after) for factor in (1, 5, 3)]
    lines += [FadeLine("a", "mamba", before * [1, 1, 3], after), FadeLine("b", "mamba", after, 0 * after)]
    found = median_fades(lines, "before")
    np.testing.assert_allclose(found["a"], [1, 0.5])
    np.testing.assert_allclose(found["b"], [1, 1])
    assert np.isnan(median_fades(lines, "after")["b"]).all()


@pytest.mark.parametrize(("kind", "panels"), [("loss", 3), ("inside", 7)])
def test_figures_show_loss_accuracy_and_scores_together(contents: Contents, kind: str, panels: int) -> None:
    figure = draw_figure(kind, contents.labelled("fig6", "laptop"), "a title", "laptop")
    assert sum(axes.get_visible() for axes in figure.axes) == panels
    seen = [axes for axes in figure.axes if axes.get_ylabel() == "read at the answer, best head"]
    assert len(seen) == 1


def test_without_looks_there_is_no_panel_of_scores(contents: Contents) -> None:
    labelled = [pair for pair in contents.labelled("fig6", "laptop") if pair[0] == "mamba"]
    assert len(draw_figure("loss", labelled, "a title", "laptop").axes) == 2


def test_matrices_have_keys_values_and_queries_as_ticks(contents: Contents) -> None:
    record = contents.labelled("fig6", "laptop")[0][1]
    matrices, places = stored_matrices(record)
    assert list(matrices) == ["layer 0 mixing 0", "layer 1 mixing 0"]
    axes = draw_matrices(matrices, places, "a title").axes[0]
    ticks = {int(tick): text.get_text() for tick, text in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)}
    assert [ticks[place] for place in (0, 1, 2, 3)] == ["k", "v", "k", "v"]
    assert [ticks[place] for place in places["queries"]] == ["q", "q"]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_titles_fit_their_figure_and_cover_no_panel(count: int) -> None:
    matrices = {f"layer 1 gradient {100 + i}": np.tril(np.full((32, 32), 1.23e-5)) for i in range(count)}
    fades = [FadeLine(f"layer {i}: mean |M|", "mamba", np.ones(9), np.ones(9)) for i in range(count)]
    title = "gated_deltaproduct, MQAR V=8192 L=256 K=64, run 86b450a62603"
    for figure in (draw_matrices(matrices, {"keys": [0, 2]}, title), draw_fading(fades, title)):
        figure.draw_without_rendering()
        shown = [axes for axes in figure.axes if axes.get_visible()]
        names = [axes.title.get_window_extent() for axes in shown]
        above = next(text for text in figure.texts if text.get_text().split("\n")[0] in title).get_window_extent()
        for one in (*names, above):
            assert figure.bbox.x0 <= one.x0 < one.x1 <= figure.bbox.x1
            assert figure.bbox.y0 <= one.y0 < one.y1 <= figure.bbox.y1
        boxes = [(axes, axes.get_tightbbox()) for axes in shown]
        for axes, name in zip(shown, names, strict=True):
            assert not above.overlaps(name)
            assert not any(name.overlaps(box) for other, box in boxes if other is not axes and box is not None)


def test_the_page_shows_the_runs_that_were_looked_into(contents: Contents, tmp_path: Path) -> None:
    (card,) = probe_cards(contents, contents.records())
    assert card.run == SEEN.id
    assert card.picture.startswith("data:image/png;base64,")
    (page,) = write_report(contents, tmp_path, ("html",))[:1]
    text = page.read_text()
    assert f"recollect probe {SEEN.id}" in text
    assert card.picture in text
