"""The length generalisation curve: the value, then its drawing."""

from typing import Any

from matplotlib.figure import Figure

from recollect import run
from recollect.report.lengths import draw_lengths, lengths
from tests.support.small import tiny

STRINGS: dict[str, Any] = {
    "task__max_length": 6,
    "task__context": 20,
    "task__eval_lengths": (5, 12, 8),
    "task__eval_rows": 10,
    "task__validation_rows": 10,
    "task__test_rows": 10,
}


def test_lengths_hold_every_seed_and_the_lengths_of_training() -> None:
    kinds = {"RoPE": {}, "hard ALiBi": {"model__mixer__positions": "hard_alibi"}}
    labelled = [
        (label, run(tiny(task="copy", train__lr=0.01, seed=seed, **STRINGS, **fields)))
        for label, fields in kinds.items()
        for seed in (1, 2)
    ]
    value = lengths([*labelled, ("no strings", run(tiny()))], "title", "smoke")
    assert [(curve.label, curve.seed) for curve in value.curves] == [
        ("RoPE", 1),
        ("RoPE", 2),
        ("hard ALiBi", 1),
        ("hard ALiBi", 2),
    ]
    assert value.curves[0].lengths == [5, 8, 12]
    assert value.trained == (5, 6)
    assert set(value.floors) == {"guessed letters"}
    for curve in value.curves:
        assert all(0 <= s <= c <= 1 for s, c in zip(curve.strings, curve.characters, strict=True))
    assert labelled[0][1].result["evaluations"]["length=12"]["character_accuracy"] == value.curves[0].characters[2]
    for word in ("copy, 26 letters, lengths 5-6", "2 seeds", "scale smoke"):
        assert word in value.note
    axes = Figure().add_subplot()
    draw_lengths(value, axes)
    assert axes.get_xlabel() == "letters in the string"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["RoPE", "hard ALiBi", "guessed letters"]


def test_no_run_and_runs_of_other_lengths_are_drawn_too() -> None:
    draw_lengths(lengths([], "title", "smoke"), Figure().add_subplot())
    other = STRINGS | {"task__max_length": 7}
    runs = [("copy", run(tiny(task="copy", **fields))) for fields in (STRINGS, other)]
    assert lengths(runs, "title", "smoke").trained is None
