"""What changes do to windows, as a table: edges, width, widening, shift, and the accuracy at the best rate."""

from collections.abc import Mapping, Sequence

from rich.table import Column, Table

from recollect.cli.display.words import chance, decades, signed
from recollect.report.effects import EffectRow, EffectsFigure, compared
from recollect.report.kind import Runs
from recollect.window import Change, Estimate, Found
from recollect.window.select import accuracy

HEADS = ("edges", "decades", "widening", "P", "shift", "P", "accuracy", "against")


def found_effects(found: Sequence[Found], against: Mapping[str, str]) -> EffectsFigure:
    """Of searches; `against`: label -> the label that it is compared with."""
    note = Runs.of([(one.label, record) for one in found for record in one.records], "").note
    rows = [EffectRow(one.label, one.spec.model.mixer_name, one.window, at_best(one)) for one in found]
    return compared(rows, against, "", note)


def at_best(found: Found) -> float:
    """The mean test accuracy of the runs at the best learning rate."""
    runs = [accuracy(run) for run in found.records if run.spec.train.lr == found.window.best_lr]
    return sum(runs) / len(runs)


def effects_table(value: EffectsFigure) -> Table:
    """The lines of all cells, for the terminal."""
    out = Table(Column("cell", min_width=12), *HEADS, box=None, pad_edge=False, padding=(0, 1))
    for line in effects_lines(value):
        out.add_row(*line)
    return out


def effects_lines(value: EffectsFigure) -> list[tuple[str, ...]]:
    """A line a cell: its label, then what HEADS name; P is the probability that it is above zero."""
    return [_line(row) for part in value.parts.values() for row in part]


def _line(row: EffectRow) -> tuple[str, ...]:
    w, done = row.window, row.effect
    hole = f", {w.failing:.2f} of it fail" if w.holes else ""
    edges = "-" if w.lower is None or w.upper is None else f"{rate(w.lower)} to {rate(w.upper)}{hole}"
    cells = (row.label, edges, decades(w.width))
    if done is None:
        return (*cells, "", "", "", "", f"{row.accuracy:.1%}", "")
    lost = f"{row.accuracy:.1%} ({done.gain})"
    return (*cells, *_told(done.widening), *_told(done.shift), lost, row.against)


def rate(edge: Estimate) -> str:
    """An edge as a learning rate; the figure has its interval."""
    return f"{10**edge.value:.2g}"


def _told(change: Change | None) -> tuple[str, str]:
    return ("-", "-") if change is None else (signed(change.decades), chance(*change.above))
