"""The figure and the table of what switches do to windows: who is compared with whom, and what is told of it."""

import math

import pytest
from matplotlib.text import Annotation

from recollect.cli.display.effects import effects_table
from recollect.report.effects import EFFECTS, EffectRow, study_effects
from recollect.report.kind import Runs
from recollect.report.layout import Print, lay_out
from recollect.store import Record
from tests.support.invented import record_of
from tests.support.small import tiny

LRS = tuple(10 ** (-4 + i / 10) for i in range(31))
WORLD = {
    "mamba, as it is": ({}, -3.0, -2.3, 0.99),
    "mamba, dynamics at 0.1 lr": ({"train__lr_dynamics": 0.1}, -3.0, -1.6, 0.98),
    "mamba, Lion": ({"train__optimiser": "lion"}, -3.6, -2.9, 0.99),
    "mamba, never": ({"train__lr_norms": 0.1}, 1.0, 2.0, 0.99),
    "attention, as it is": ({}, -3.0, -2.0, 0.99),
    "attention, Lion": ({"train__optimiser": "lion"}, -3.0, -2.0, 0.99),
    "deltanet, as it is": ({}, -3.5, -1.5, 0.99),
}


def labelled() -> list[tuple[str, Record]]:
    """Runs in which every label has its window."""
    found = []
    for label, (fields, low, high, top) in WORLD.items():
        for lr in LRS:
            spec = tiny(label.partition(",")[0], train__lr=lr, **fields)
            found.append((label, record_of(spec, top if low < math.log10(lr) < high else 0.2, "partial")))
    return found


def test_every_switch_is_compared_with_its_own_mixer_as_it_is() -> None:
    value = study_effects(Runs.of(labelled(), "laptop"))
    assert {name: [row.label for row in rows] for name, rows in value.parts.items()} == {
        "mamba": [*(label for label in WORLD if label.startswith("mamba")), "deltanet, as it is"],
        "attention": ["attention, as it is", "attention, Lion"],
    }
    rows: dict[str, EffectRow] = {row.label: row for found in value.parts.values() for row in found}
    assert {label for label, row in rows.items() if row.effect is None} == {
        label for label in WORLD if label.endswith("as it is")
    }
    for label, shift, widening, loss in (
        ("mamba, dynamics at 0.1 lr", 0.35, 0.7, 0.01),
        ("mamba, Lion", -0.6, 0.0, 0.0),
        ("attention, Lion", 0.0, 0.0, 0.0),
    ):
        done = rows[label].effect
        assert done is not None
        assert done.shift is not None
        assert rows[label].against == f"{label.partition(',')[0]}, as it is"
        assert done.shift.decades.value == pytest.approx(shift, abs=0.06)
        assert done.widening.decades.value == pytest.approx(widening, abs=0.06)
        assert done.loss == pytest.approx(loss)
    never = rows["mamba, never"].effect
    assert never is not None
    assert never.shift is None
    assert max(never.widening.above) < 0.01


def test_the_table_tells_the_same() -> None:
    table = effects_table(study_effects(Runs.of(labelled(), "laptop")))
    columns = {str(column.header) + str(i): list(column.cells) for i, column in enumerate(table.columns)}
    place = list(columns["cell0"]).index("mamba, dynamics at 0.1 lr")
    assert columns["widening3"][place].startswith("+0.")
    assert columns["P4"][place] == ">0.99"
    assert columns["accuracy7"][place] == "98.0% (-1.0%)"
    assert columns["against8"][place] == "mamba, as it is"
    assert columns["shift5"][list(columns["cell0"]).index("mamba, never")] == "-"


def test_models_are_drawn_over_one_range_so_that_they_can_be_compared() -> None:
    some = [(label, record) for label, record in labelled() if label.startswith("mamba") or record.spec.train.lr < 1e-2]
    figure = lay_out(EFFECTS.panels(study_effects(Runs.of(some, "laptop"))), "", "", Print(), across=2)
    ranges = [axes.get_xlim() for axes in figure.axes]
    assert len(ranges) == 4
    assert ranges[:2] == ranges[2:]


def test_a_row_without_a_window_says_so() -> None:
    figure = lay_out(EFFECTS.panels(study_effects(Runs.of(labelled(), "laptop"))), "", "", Print(), across=2)
    told = [(text.get_text(), text.xy[1]) for text in figure.axes[0].texts if isinstance(text, Annotation)]
    assert told == [("no window", list(WORLD).index("mamba, never"))]
