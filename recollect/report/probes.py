"""The page's section on what was seen inside runs: a picture each, scores along training and matrices at its end."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO

from matplotlib.axes import Axes

from recollect.report.matrices import draw_matrices, stored_matrices
from recollect.report.style import INK
from recollect.store import Contents, Record

MOST = 16
"""Runs that have a picture on the page: of every cell the one that recalls best, best cells first."""
SHOWN = ("induction", "behind value", "previous token", "value mass")


@dataclass(frozen=True)
class ProbeCard:
    """A run, what is to be said of it, and its picture as a data URI."""

    run: str
    title: str
    picture: str


def probe_cards(contents: Contents, records: Sequence[Record]) -> tuple[ProbeCard, ...]:
    """Of the runs that somebody looked into while they trained."""
    looked = contents.looked()
    best: dict[str, Record] = {}
    for record in sorted((one for one in records if one.is_done and one.id in looked), key=_accuracy):
        best[record.cell] = record
    return tuple(_card(record) for record in sorted(best.values(), key=_accuracy, reverse=True)[:MOST])


def _accuracy(record: Record) -> float:
    return float((record.result or {})["test_accuracy"] or 0.0)


def _card(record: Record) -> ProbeCard:
    spec = record.spec
    layers = f"{spec.model.n_layers} layer{'s' * (spec.model.n_layers > 1)}"
    told = f"{spec.model.mixer_name}, {layers}, {spec.task.short()}, lr {spec.train.lr:g}, seed {spec.seed}"
    title = f"{told}: {record.outcome}, test accuracy {_accuracy(record):.1%}"
    matrices, places = stored_matrices(record)
    figure = draw_matrices(matrices, places, "", first=[partial(draw_scores, record)])
    file = BytesIO()
    figure.savefig(file, format="png", dpi=140)
    return ProbeCard(record.id, title, f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}")


def draw_scores(record: Record, axes: Axes) -> None:
    """Scores of the last layer's strongest head; those of the first too where there are several."""
    last = record.spec.model.n_layers - 1
    for layer, style in {0: "--", last: "-"}.items():
        for i, name in enumerate(SHOWN):
            line = record.looks[f"{layer} {name}, best"]
            values = [float(value) for value in line.values()]
            axes.plot(list(line), values, linestyle=style, color=f"C{i}", label=name if layer == last else None)
    chance = [*record.looks["0 induction, chance"].values()]
    axes.axhline(float(chance[0]), color=INK, linestyle=":", linewidth=0.8)
    axes.set(xlabel="training step", title="scores, best head" + ("\ndashed: layer 0" if last else ""), ylim=(0, 1.02))
    axes.legend(fontsize=5)
