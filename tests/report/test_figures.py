"""Compute, then draw: tests look at the value."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure

from recollect import run
from recollect.errors import BadInput
from recollect.report import draw_figure, save
from recollect.report.ablation import ablation_figure, draw_ablation
from recollect.report.axes import near
from recollect.report.bands import bands, draw_bands
from recollect.report.cells import cell_names, named
from recollect.report.dynamics import at_best, draw_dynamics, dynamics
from recollect.report.heatmap import draw_heatmap, heatmap
from recollect.report.kind import Runs
from recollect.report.layout import Print
from recollect.report.lr import draw_lr, lr_figure
from recollect.report.mixing import draw_mixing, mixing_figure
from recollect.report.note import floors, note
from recollect.report.params import draw_params, params_figure
from recollect.report.style import OTHERS, OUTCOMES, looks, mixer_colour, mixer_colours, outcome_colour
from recollect.report.width import draw_width, width_figure
from recollect.spec import MIXERS
from recollect.spec.protocols import ZOOLOGY
from recollect.store import Record, Store
from recollect.studies import STUDIES
from tests.support.invented import LRS, record_of, records_of
from tests.support.places import ROOT
from tests.support.small import tiny

EXAMPLE = ROOT / "examples" / "demo.db"


def names(axes: Axes) -> list[str]:
    """What the legend names."""
    legend = axes.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_dynamics_hold_every_seed_and_the_floors() -> None:
    labelled = [(f"lr {lr}", run(tiny(train__lr=lr, seed=seed))) for lr in (0.01, 0.02) for seed in (1, 2)]
    value = dynamics(labelled, "title", "smoke")
    assert [(curve.label, curve.seed) for curve in value.curves] == [
        ("lr 0.01", 1),
        ("lr 0.01", 2),
        ("lr 0.02", 1),
        ("lr 0.02", 2),
    ]
    assert value.curves[0].steps == [0, 4, 8, 12]
    assert len(value.curves[0].validation_loss) == len(value.curves[0].train) == 4
    assert set(value.floors) == {"1/K", "position only"}
    for word in ("V=20 L=8 K=2", "lr 0.01 to 0.02", "budget 12 steps", "2 seeds", "scale smoke"):
        assert word in value.note
    axes = Figure().add_subplot()
    draw_dynamics(value, axes)
    assert axes.get_xlabel() == "training step"
    assert names(axes) == ["lr 0.01", "lr 0.02", "1/K", "position only"]
    assert {text.get_text() for text in axes.texts} == {"50%", "67%"}


def test_dynamics_draw_training_faint_and_end_every_run_in_a_dot() -> None:
    value = dynamics([("a", record) for record in records_of(lrs=LRS[4:5])], "", "smoke")
    axes = Figure().add_subplot()
    draw_dynamics(value, axes, "loss")
    train, validation, named, ends = axes.lines
    assert train.get_alpha() == 0.25
    assert named.get_marker() == ends.get_marker() == "o"
    assert validation.get_alpha() is None
    assert list(ends.get_xdata()) == [12, 12, 12]
    assert axes.get_ylabel() == "loss (training faint)"


def test_the_lr_figure_has_the_median_the_spread_every_seed_and_the_window() -> None:
    records = records_of()
    worse = replace(records[12], result={**(records[12].result or {}), "test_accuracy": 0.5})
    value = lr_figure([("attention", [*records[:12], worse, *records[13:]])], "title", "smoke")
    (series,) = value.series
    assert series.lrs == LRS
    assert len(series.dots) == 30
    place = LRS.index(worse.spec.train.lr)
    assert series.low[place] == 0.5
    assert series.high[place] == 0.995
    assert series.middle[place] == 0.995
    assert series.success is None
    assert series.window is not None
    assert series.window.lower is not None
    assert -3.6 < series.window.lower.value < -3.2
    assert value.grid == (1e-4, 4.64e-4, 2.15e-3, 1e-2)
    assert {dot.outcome for dot in series.dots} == {"solved", "guessing", "diverged"}
    axes = Figure().add_subplot()
    draw_lr(value, axes)
    assert axes.get_xscale() == "log"
    assert "25%" in {text.get_text() for text in axes.texts}
    assert names(axes) == ["attention", "1/K", "position only", "Zoology's grid"]


def test_runs_of_different_tasks_or_models_are_not_pooled() -> None:
    mixed = [*records_of(lrs=LRS[2:5]), *records_of("mamba", lrs=LRS[2:5], task__length=16)]
    sentence = r"^lr_figure: 'both' names 2 cells \(attention on MQAR V=20 L=8 K=2; mamba on MQAR V=20 L=16 K=2...\)"
    with pytest.raises(BadInput, match=sentence):
        lr_figure([("both", mixed)], "", "")
    value = lr_figure(named(mixed), "", "")
    assert [one.label for one in value.series] == ["attention, MQAR V=20 L=8 K=2", "mamba, MQAR V=20 L=16 K=2"]


def test_cells_that_share_a_label_and_all_sizes_are_named_apart() -> None:
    cells = [*records_of("mamba", LRS[2:5]), *records_of("mamba", LRS[2:5], model__mixer__d_conv=2)]
    (found,) = Runs.of([("mamba", record) for record in cells], "").by_size().values()
    assert set(found.looks) == {"mamba, d_conv=4", "mamba, d_conv=2"}
    assert len({look.colour for look in found.looks.values()}) == 2


def test_a_label_looks_the_same_in_all_panels() -> None:
    runs = [("whole", record) for record in records_of("mamba", LRS[:2])]
    runs += [("less", record) for record in records_of("mamba", LRS[:2], model__d_model=16)]
    assert Runs.of(runs, "").some(runs[-2:]).looks["less"].line != "-"


def test_two_learning_rates_tell_no_window() -> None:
    few, enough = (lr_figure([("a", records_of(lrs=LRS[:count]))], "", "").series[0] for count in (2, 3))
    assert (few.window, few.success) == (None, None)
    assert enough.window is not None


def test_no_line_joins_learning_rates_far_apart() -> None:
    assert near([1, 2, 4, 40, 80], 5) == [slice(0, 3), slice(3, 5)]
    runs = [*records_of(lrs=(1e-4, 2e-4, 1e-2, 2e-2))]
    draw_lr(lr_figure([("a", runs)], "", ""), axes := Figure().add_subplot())
    lines = [line for line in axes.lines if line.get_color() == mixer_colour("attention")]
    joined = [[round(x, 5) for x in line.get_xdata()] for line in lines if len(line.get_xdata())]
    assert [1e-4, 2e-4] in joined
    assert [1e-2, 2e-2] in joined
    assert not any(min(line) < 1e-3 < max(line) for line in joined)


def test_single_runs_are_dots_with_the_curve_that_was_fitted_to_them() -> None:
    mixed = [*records_of(lrs=LRS[4:6]), *records_of(lrs=LRS[6:7], seeds=(1,))]
    draw_lr(lr_figure([("a", mixed)], "", ""), axes := Figure().add_subplot())
    own = [line for line in axes.lines if line.get_color() == mixer_colour("attention") and len(line.get_xdata())]
    assert [list(line.get_xdata()) for line in own] == [list(LRS[4:6])]
    (series,) = lr_figure([("a", records_of(seeds=(1,)))], "", "").series
    curve = series.success
    assert curve is not None
    assert all(low <= mean <= high for low, mean, high in zip(curve.low, curve.mean, curve.high, strict=True))
    at = dict(zip(curve.lrs, curve.mean, strict=True))
    assert max(share for lr, share in at.items() if lr < 1.5e-4) < 0.3
    assert min(share for lr, share in at.items() if 1e-3 < lr < 4e-3) > 0.8
    draw_lr(lr_figure([("a", records_of(seeds=(1,)))], "", ""), axes := Figure().add_subplot())
    assert "fitted success rate" in names(axes)
    assert axes.get_ylabel() == "success, accuracy (dots)"
    assert lr_figure([("a", records_of(seeds=(1,), lrs=LRS[:2]))], "", "").series[0].success is None


def test_no_curve_is_fitted_where_no_run_succeeds_and_bands_of_several_are_faint() -> None:
    found = [records_of(name, seeds=(1,)) for name in ("attention", "mamba")]
    failed = [replace(run, result={**(run.result or {}), "validation_accuracy": 0.5}) for run in found[1]]
    one, both = (lr_figure([("a", found[0]), ("m", other)], "", "") for other in (failed, found[1]))
    assert [series.success is None for series in one.series] == [False, True]
    alphas = []
    for value in (one, both):
        draw_lr(value, axes := Figure().add_subplot())
        alphas.append([band.get_alpha() for band in axes.collections if isinstance(band, FillBetweenPolyCollection)])
    assert alphas == [[0.16], [0.07, 0.07]]


def test_a_run_without_a_finite_accuracy_counts_as_nothing_right() -> None:
    record = records_of(lrs=LRS[:1], seeds=(1,))[0]
    broken = replace(record, outcome="diverged", result={**(record.result or {}), "test_accuracy": None})
    assert lr_figure([("a", [broken])], "", "").series[0].middle == (0.0,)


def test_bands_are_shares_that_sum_to_one_and_stack_from_solved_to_diverged() -> None:
    records = records_of()
    stuck = replace(records[0], outcome="stuck at ln K")
    value = bands([stuck, *records[1:]])
    assert list(value.shares) == ["solved", "guessing", "stuck at ln K", "diverged"]
    assert value.shares["stuck at ln K"][0] == pytest.approx(1 / 3)
    assert value.counts == (3,) * 10
    assert all(sum(share[i] for share in value.shares.values()) == pytest.approx(1) for i in range(10))
    axes = Figure().add_subplot()
    draw_bands(value, axes)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(value.shares)


def test_bands_side_by_side_name_the_same_outcomes() -> None:
    records = records_of()
    value = bands(records[:3], among=records)
    assert list(value.shares) == ["solved", "guessing", "diverged"]
    assert value.shares["diverged"] == (0.0,)


def test_outcomes_lie_below_an_lr_figure_at_the_same_learning_rates_where_they_are_asked_for() -> None:
    (alone,) = draw_figure("lr", grid()[:9], "t", "smoke").axes
    above, *below = draw_figure("lr", grid()[:9], "t", "smoke", Print(panels=("main", "outcomes"))).axes
    assert (len(alone.child_axes), len(above.child_axes)) == (1, 0)
    assert [axes.get_title() for axes in below] == ["attention"]
    assert below[0].get_xlim() == above.get_xlim()


def test_windows_lie_in_a_strip_above_an_lr_figure_or_stand_alone() -> None:
    (axes,) = draw_figure("lr", [("a", record) for record in records_of()], "t", "smoke").axes
    (strip,) = axes.child_axes
    assert strip.get_xlim() == axes.get_xlim()
    assert strip.get_position().y0 > axes.get_position().y1
    bar = strip.lines[0].get_xdata()
    assert [math.log10(x) for x in bar] == pytest.approx([-3.4, -1.95], abs=0.2)
    (alone,) = draw_figure(
        "lr", [("a", record) for record in records_of()], "t", "smoke", Print(panels=("window",))
    ).axes
    assert [tick.get_text() for tick in alone.get_yticklabels()] == ["a"]


def grid() -> list[tuple[str, Record]]:
    """Two mixers, two widths, two depths, two lengths."""
    return [
        (mixer, record)
        for mixer in ("attention", "mamba")
        for width in (8, 16)
        for depth in (1, 2)
        for length in (8, 16)
        for record in records_of(mixer, LRS[1::4], model__d_model=width, model__n_layers=depth, task__length=length)
    ]


def test_the_width_figure_shows_what_zoologys_four_rates_find_beside_the_finer_grid() -> None:
    fine = [("attention", record) for record in records_of(lrs=(*ZOOLOGY.lrs, 1e-3))]
    found = [(label, raised(record) if record.spec.train.lr == 1e-3 else record) for label, record in fine]
    (series,) = width_figure(found, "title", "smoke").columns[0].series
    assert series.points[8].lr == 1e-3
    assert [choice.lr for choice in series.coarse.values()] == [2.15e-3]
    some = [pair for pair in found if pair[1].spec.train.lr != 1e-4]
    assert width_figure(some, "title", "smoke").columns[0].series[0].coarse == {}


def raised(record: Record) -> Record:
    """The same run with a perfect score."""
    perfect = {f"{rows}_accuracy": 1.0 for rows in ("validation", "test")}
    return replace(record, result={**(record.result or {}), **perfect})


def test_the_width_figure_has_a_column_per_length() -> None:
    value = width_figure([pair for pair in grid() if pair[1].spec.model.n_layers == 1], "title", "smoke")
    assert [column.task for column in value.columns] == ["MQAR V=20 L=8 K=2", "MQAR V=20 L=16 K=2"]
    assert [series.label for series in value.columns[0].series] == ["attention", "mamba"]
    assert list(value.columns[0].series[0].points) == [8, 16]
    assert value.columns[0].series[0].points[8].mean == 0.995
    draw_width(value.columns[0], axes := Figure().add_subplot())
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["8", "16"]


def test_choosing_on_the_test_rows_is_written_on_the_figure() -> None:
    assert "lr chosen on the test rows" in width_figure(grid(), "", "", select="test").note
    assert "lr chosen on the test rows" in params_figure(grid(), "", "", select="test").note
    assert "chosen" not in width_figure(grid(), "", "").note


def test_the_params_figure_has_a_point_per_cell_with_both_sizes() -> None:
    value = params_figure(grid(), "title", "smoke")
    assert len(value.rows) == 16
    assert {row.spec.model.n_layers for row in value.rows} == {1, 2}
    assert {row.n_params for row in value.rows} == {1056, 1312, 2624, 3648}
    axes = Figure().add_subplot()
    draw_params(value, axes, "state")
    assert axes.get_xlabel() == "numbers in the state"
    assert names(axes) == ["attention", "mamba", "1 layer", "2 layers", "1/K", "position only"]


def test_a_model_whose_state_nobody_knows_is_named_and_not_drawn() -> None:
    found = [(label, stateless(record) if label == "mamba" else record) for label, record in grid()]
    value = params_figure(found, "title", "smoke")
    draw_params(value, axes := Figure().add_subplot(), "state")
    assert axes.get_xlabel() == "numbers in the state\n(unknown: mamba)"
    drawn = {line.get_color() for line in axes.lines if len(np.ravel(line.get_xdata())) > 1}
    assert mixer_colour("attention") in drawn
    assert mixer_colour("mamba") not in drawn
    draw_params(value, axes := Figure().add_subplot(), "parameters")
    assert axes.get_xlabel() == "parameters"
    draw_params(replace(value, rows=value.rows[-1:]), axes := Figure().add_subplot(), "state")
    assert axes.texts[-1].get_text() == "nothing to show yet"


def stateless(record: Record) -> Record:
    """The same run of a model that does not say what it remembers."""
    return replace(record, result={**(record.result or {}), "state_size": None})


def test_a_heatmap_tells_accuracy_lr_and_window_over_width_and_depth() -> None:
    records = [
        record
        for width, depth in ((8, 1), (16, 1), (8, 2))
        for record in records_of(model__d_model=width, model__n_layers=depth)
    ]
    value = heatmap(records, "title", "smoke", "window")
    assert (value.widths, value.rows) == ((8, 16), (1, 2))
    assert value.values[0][0] == pytest.approx(1.5, abs=0.15)
    assert value.values[1][1] is None
    assert heatmap(records, "", "", "accuracy").values[0][1] == 0.995
    assert heatmap(records, "", "", "lr").values[0][0] == pytest.approx(10**-2.75)
    draw_heatmap(value, axes := Figure().add_subplot())
    assert [text.get_text() for text in axes.texts][-1] == "-"


def test_a_heatmap_may_run_over_length() -> None:
    value = heatmap([record for _, record in grid()], "", "", "accuracy", "length")
    assert value.rows == (8, 16)


def test_mixing_matrices_are_drawn_from_plain_arrays() -> None:
    value = mixing_figure({"layer 1": np.tril(np.ones((4, 4))), "layer 2": np.array([[0.5, -0.5], [0, 1]])}, "title")
    assert [panel.is_signed for panel in value.panels] == [False, True]
    draw_mixing(value.panels[1], axes := Figure().add_subplot())
    assert axes.images[0].get_clim() == (-1.0, 1.0)
    with pytest.raises(BadInput, match=r"mixing wide: a square matrix \(L, L\) is needed \(got shape \(2, 3\)\)"):
        mixing_figure({"wide": np.ones((2, 3))}, "")
    with pytest.raises(BadInput, match="1 entries are not finite"):
        mixing_figure({"broken": np.array([[np.nan]])}, "")


def test_an_ablation_has_a_line_per_model_with_every_seed() -> None:
    labelled = [(name, record) for name in ("whole", "less") for record in records_of("mamba", LRS[4:5])]
    other = [("less", record_of(tiny("mamba", model__mixer__d_conv=1, seed=seed), 0.4, "partial")) for seed in (1, 2)]
    value = ablation_figure([*labelled[:3], *other], "title", "smoke")
    assert [(row.label, row.choice and len(row.choice.seeds)) for row in value.rows] == [("whole", 3), ("less", 2)]
    draw_ablation(value, axes := Figure().add_subplot())
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["whole", "less"]


def test_dynamics_show_the_narrowest_cell_that_recalls_at_its_best_rate() -> None:
    found = at_best([(label, record) for label, record in grid() if record.spec.task.length == 8])
    assert {(label, record.spec.model.d_model, record.outcome) for label, record in found} == {
        ("attention", 8, "solved"),
        ("mamba", 8, "solved"),
    }
    assert len({(record.cell, record.spec.train.lr) for _, record in found}) == 2
    failed = [("attention", record) for record in records_of(lrs=LRS[:2], model__d_model=8)]
    failed += [("attention", record) for record in records_of(lrs=LRS[:2], model__d_model=16)]
    assert {record.spec.model.d_model for _, record in at_best(failed)} == {16}
    assert at_best([]) == []


def test_models_of_different_widths_stand_in_one_table_with_their_sizes() -> None:
    one = [(f"{label} {record.spec.model.d_model}", record) for label, record in grid() if record.spec.task.length == 8]
    shallow = [(label, record) for label, record in one if record.spec.model.n_layers == 1]
    (axes,) = draw_figure("table", shallow, "t", "smoke").axes
    assert axes.get_yticklabels()[0].get_text() == "attention 8\n1 x 8, 1,056 parameters"
    assert len(draw_figure("table", one, "t", "smoke").axes) == 4


def test_the_same_figure_is_the_same_bytes(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save(draw_figure("lr", grid()[:9], "t", "smoke"), tmp_path / folder, "f", ("svg", "pdf"))
    for ending in ("svg", "pdf"):
        assert (tmp_path / "one" / f"f.{ending}").read_bytes() == (tmp_path / "two" / f"f.{ending}").read_bytes()


def test_panels_are_named_by_the_sizes_that_differ() -> None:
    assert list(Runs.of([pair for pair in grid() if pair[1].spec.task.length == 8], "").by_size()) == [
        "d=8, 1 layer",
        "d=8, 2 layers",
        "d=16, 1 layer",
        "d=16, 2 layers",
    ]


def test_cells_are_named_by_the_options_that_differ_at_the_same_sizes() -> None:
    specs = {spec.cell: spec for spec in (tiny("mamba"), tiny("mamba", model__mixer__d_conv=2), tiny("attention"))}
    assert sorted(cell_names(specs).values()) == ["attention", "mamba, d_conv=2", "mamba, d_conv=4"]


def test_every_mixer_has_a_colour_and_a_marker_of_its_own() -> None:
    found = looks([(name, name) for name in MIXERS])
    assert [look.colour for look in found.values()] == [mixer.card.colour for mixer in MIXERS.values()]
    assert len({look.colour for look in found.values()}) == len({look.marker for look in found.values()}) == len(MIXERS)


def test_a_users_mixer_keeps_its_colour_and_takes_none_of_the_known_ones() -> None:
    assert mixer_colour("my.py:Mixer") == mixer_colour("my.py:Mixer")
    assert mixer_colour("my.py:Mixer") in {colour for colour, _ in OTHERS}
    assert not {colour for colour, _ in OTHERS} & {mixer.card.colour for mixer in MIXERS.values()}


def test_mixers_of_users_in_one_figure_never_look_alike() -> None:
    mine = [f"my.py:Mixer{i}" for i in range(len(OTHERS))]
    found = looks([(name, name) for name in (*mine, "attention")])
    assert len({(look.colour, look.marker) for look in found.values()}) == len(mine) + 1
    assert len(set(mixer_colours(mine).values())) == len(mine)


def test_variants_of_one_mixer_differ_in_line_and_shade() -> None:
    found = looks([("a", "mamba"), ("b", "mamba"), ("c", "attention"), ("a", "mamba")])
    assert found["a"].marker == found["b"].marker
    assert found["a"].line != found["b"].line
    assert found["a"].colour == mixer_colour("mamba") != found["b"].colour
    assert found["c"].colour == mixer_colour("attention")


def test_outcomes_have_colours_of_their_own_and_plateaus_are_greys() -> None:
    plateaus = [f"stuck at {name}" for name in ("ln V", "ln(V/2)", "ln K")]
    among = ["solved", *plateaus, "diverged"]
    found = [outcome_colour(outcome, among) for outcome in among]
    assert found == [OUTCOMES["solved"][0], *OUTCOMES["stuck"][:3], OUTCOMES["diverged"][0]]
    assert outcome_colour(plateaus[2]) == outcome_colour("unheard of", among) == OUTCOMES["stuck"][0]
    assert outcome_colour("below chance", among) == OUTCOMES["below"][0]


def test_floors_of_different_tasks_are_not_drawn_as_one() -> None:
    one, other = records_of(lrs=LRS[:1])[:2]
    moved = replace(other, result={**(other.result or {}), "floors": {"1/K": 0.125, "position only": 0.5}})
    assert floors([one, moved]) == {"1/K": 0.125}


def test_the_small_print_tells_how_many_seeds_there_are_at_least_and_at_most() -> None:
    assert "2 to 3 seeds" in note(records_of(lrs=LRS[:2])[1:], "smoke")


def test_the_small_print_has_whole_numbers_in_full() -> None:
    short, long = records_of(lrs=LRS[:1], train__steps=4000), records_of(lrs=LRS[:1], train__steps=16_000)
    assert "budget 4000 to 16000 steps" in note(short + long, "laptop")


def test_the_small_print_says_where_keys_and_values_share_no_token() -> None:
    split, shared = (records_of(task__vocabulary=vocabulary) for vocabulary in ("split", "shared"))
    assert "vocabulary split, d=" in note(split, "laptop")
    assert "split" not in note(shared, "laptop")
    assert "split" not in note(split + shared, "laptop")


def test_the_readmes_figure_is_drawn_from_the_example_store() -> None:
    store, study = Store(EXAMPLE), STUDIES["demo"]
    labels = store.labels("demo", "laptop")
    records = {record.id: record for record in store.records(study="demo", curves=True)}
    store.close()
    value = dynamics([(label, records[run]) for run, label in labels.items()], study.title, "laptop")
    ends: dict[str, set[str]] = {}
    for curve in value.curves:
        ends.setdefault(curve.label, set()).add(curve.outcome)
    assert ends == {
        "attention, 2 layers": {"solved"},
        "attention + conv, 1 layer": {"solved"},
        "attention, 1 layer": {"guessing"},
    }
    assert len(value.curves) == 9
    assert value.floors["1/K"] == 0.125
    flat = [curve.validation[-1] for curve in value.curves if curve.label == "attention, 1 layer"]
    assert all(abs((end or 0) - value.floors["position only"]) < 0.05 for end in flat)
    assert (
        value.note == "MQAR V=64 L=32 K=8, vocabulary split, d=64; lr 0.002; budget 2000 steps; 3 seeds; scale laptop"
    )


def test_a_figure_of_too_many_panels_draws_the_first_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.report.layout.MOST", 2)
    labelled = [("attention", run) for width in (8, 16, 32) for run in records_of(model__d_model=width)]
    figure = draw_figure("lr", labelled, "Three", "laptop")
    assert [axes.get_title() for axes in figure.axes] == ["d=8", "d=16"]
    assert "2 of 3 panels" in " ".join(figure.get_supxlabel().split())
