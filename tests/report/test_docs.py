"""What docs/figures.md shows works."""

import re
from pathlib import Path

import matplotlib as mpl
import pytest

from tests.support.invented import fill, records_of
from tests.support.places import ROOT

TEXT = (ROOT / "docs" / "figures.md").read_text()


def test_a_figure_of_ones_own_takes_five_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    runs = [*records_of("mamba", model__n_layers=2), *records_of("attention", model__n_layers=2, task__length=16)]
    fill(Path("recollect.db"), runs)
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5
    names: dict[str, object] = {}
    exec(code, names)
    import matplotlib.pyplot as plt

    (axes,) = plt.gcf().axes
    assert axes.get_title() == "Mine"
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert set(named[:2]) == {"mamba, MQAR V=20 L=8 K=2", "attention, MQAR V=20 L=16 K=2"}
    plt.close("all")
