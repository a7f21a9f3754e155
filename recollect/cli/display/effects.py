"""What `recollect window --vary` prints: edges, width, widening and shift of every value, and the accuracy it costs."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from recollect.cli.display.words import chance, decades, edge, signed
from recollect.report.effects import EffectRow, EffectsFigure
from recollect.report.kind import Runs
from recollect.window import Change, Effect, Found, effect
from recollect.window.reading import grouped
from recollect.window.select import accuracy


def effects_of(found: Sequence[Found], against: Mapping[str, str]) -> dict[str, Effect]:
    """Label -> what its change does, where both it and what it is compared with were found."""
    cells = {one.label: one for one in found}
    pairs = [(one, cells[against[one.label]]) for one in found if against.get(one.label) in cells]
    return {one.label: effect(one.window, other.window, at_best(one), at_best(other)) for one, other in pairs}


def at_best(found: Found) -> float:
    """The mean test accuracy of the runs at the best learning rate."""
    runs = [accuracy(run) for run in found.records if run.spec.train.lr == found.window.best_lr]
    return sum(runs) / len(runs)


def effects_figure(found: Sequence[Found], effects: Mapping[str, Effect]) -> EffectsFigure:
    """The value of the figure."""
    note = Runs.of([(one.label, record) for one in found for record in one.records], "").note
    rows = [
        (one.spec.model.mixer_name, EffectRow(one.label, one.spec.model.mixer_name, one.window, effects.get(one.label)))
        for one in found
    ]
    return EffectsFigure("", note, {name: tuple(group) for name, group in grouped(rows).items()})


def effects_table(found: Sequence[Found], effects: Mapping[str, Effect], against: Mapping[str, str]) -> Table:
    """One line a cell."""
    heads = (
        "cell",
        "left edge",
        "right edge",
        "decades",
        "best lr",
        "widening",
        "P",
        "shift",
        "P",
        "accuracy",
        "against",
    )
    out = Table(*heads, box=None, pad_edge=False)
    for one in found:
        w, done = one.window, effects.get(one.label)
        cells = (one.label, edge(w.lower), edge(w.upper), decades(w.width), f"{w.best_lr:.3g}")
        if done is None:
            out.add_row(*cells, "", "", "", "", f"{at_best(one):.1%}", "")
            continue
        loss = f"{at_best(one):.1%} ({-done.loss:+.1%})"
        out.add_row(*cells, *_told(done.widening), *_told(done.shift), loss, against[one.label])
    return out


def _told(change: Change | None) -> tuple[str, str]:
    return ("-", "-") if change is None else (signed(change.decades), chance(*change.above))
