"""What `recollect window` prints: a paragraph and a plot a cell, a table, and who is wider than whom."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from recollect.cli.display.console import console, tell, width
from recollect.cli.display.effects import effects_table, found_effects
from recollect.cli.display.plot import plot
from recollect.cli.display.words import decades, edge, probability
from recollect.cli.options import print_figure
from recollect.report.effects import save_effects
from recollect.report.layout import Print
from recollect.report.window import save_windows, window_figure
from recollect.spec.files import safe_name
from recollect.window import Found, wider_matrix


def show_found(found: Sequence[Found], folder: Path, how: Print, against: Mapping[str, str], *, plain: bool) -> None:
    """Draw the figure and print everything; `plain` prints one JSON object. `against`: who is compared with whom."""
    files = save_windows(window_figure(found), folder, file_name(found), how)
    effects = found_effects(found, against) if against else None
    if effects:
        files += save_effects(effects, folder, f"{file_name(found)}-effects", how)
    if plain:
        plainly: dict[str, Any] = {"cells": [one.to_json() for one in found], "wider": wider_matrix(found)}
        rows = [row for part in effects.parts.values() for row in part] if effects else []
        told = [{"label": row.label, "against": row.against, **row.effect.to_json()} for row in rows if row.effect]
        plainly |= {"effects": told} if effects else {}
        json.dump(plainly | {"figure": [str(file) for file in files]}, sys.stdout)
        print()
        return
    for one in found:
        print_one(one)
    if len(found) > 1:
        console().print(table(found))
        tell("", *(f"{one.label}: {shares(one)}" for one in found))
        print("\nprobability that the window of the row is wider than that of the column")
        console().print(matrix(found))
        print()
    if effects:
        print("what each change does, with 90 % intervals and the probability that it is above zero")
        console().print(effects_table(effects))
        print()
    print_figure(files)


def print_one(found: Found) -> None:
    """Words, costs and plot of one cell."""
    model = found.spec.model
    tell(f"{found.label}, {model.n_layers} x {model.d_model}, {found.spec.task.name}. {found.window}")
    tell(found.cost(), "", plot(found.window, width()), "")


def table(found: Sequence[Found]) -> Table:
    """One line a cell."""
    heads = ("cell", "size", "left edge", "right edge", "decades", "best lr", "sensitivity", "runs", "even grid")
    out = Table(*heads, box=None, pad_edge=False)
    for one in found:
        w, model = one.window, one.spec.model
        out.add_row(
            one.label,
            f"{model.n_layers} x {model.d_model}",
            edge(w.lower),
            edge(w.upper),
            decades(w.width),
            f"{w.best_lr:.3g}",
            "-" if w.sensitivity is None else f"{w.sensitivity:.3g}",
            str(w.n_runs),
            "-" if one.even is None else str(one.even),
        )
    return out


def shares(found: Found) -> str:
    """How its runs ended."""
    return ", ".join(f"{share:.0%} {outcome}" for outcome, share in found.outcomes.items())


def matrix(found: Sequence[Found]) -> Table:
    """P(row wider than column)."""
    out = Table("", *(one.label for one in found), box=None, pad_edge=False)
    for i, row in enumerate(wider_matrix(found)):
        out.add_row(found[i].label, *("" if i == j else probability(share) for j, share in enumerate(row)))
    return out


def file_name(found: Sequence[Found]) -> str:
    """`window-mqar-attention-mamba`: the name of the figure's files."""
    return safe_name("-".join(["window", found[0].spec.task.name, *(one.label for one in found)]))
