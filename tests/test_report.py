"""Compute, then draw: tests look at the value."""

from matplotlib.figure import Figure
from small import tiny

from recollect import run
from recollect.report.dynamics import draw_dynamics, dynamics
from recollect.report.style import colour


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
    assert set(value.floors) == {"1/K", "position only"}
    for word in ("V=20 L=8 K=2", "lr 0.01 to 0.02", "budget 12 steps", "2 seeds", "scale smoke"):
        assert word in value.note
    axes = Figure().add_subplot()
    draw_dynamics(value, axes)
    assert axes.get_xlabel() == "training step"
    assert len(axes.get_legend().get_texts()) == 2
    assert {text.get_text() for text in axes.texts} == {"1/K (50%)", "position only (67%)"}


def test_an_empty_figure_says_so() -> None:
    value = dynamics([], "title", "smoke")
    assert value.note == "no finished run at scale smoke"
    draw_dynamics(value, Figure().add_subplot())


def test_neighbouring_series_have_different_colours() -> None:
    assert len({colour(i) for i in range(8)}) == 8
