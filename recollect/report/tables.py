"""Tables of cells in Markdown, CSV and LaTeX: mean, standard deviation, min-max, seeds, best lr, window."""

import math
from collections.abc import Sequence
from typing import Literal

import pandas as pd

from recollect.report.cells import CellRow
from recollect.window import Window

TableFormat = Literal["markdown", "csv", "latex"]
ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "|": "$|$"}
)
"""What LaTeX would not take for text."""

ENDINGS: dict[TableFormat, str] = {"markdown": "md", "csv": "csv", "latex": "tex"}


def cell_table(rows: Sequence[CellRow]) -> pd.DataFrame:
    """Numbers, a row per cell; missing where no run is finished. This is what the CSV holds."""
    names = ["cell", "model", "mixer", "task", "d_model", "n_layers", "n_params", "state_size", "steps"]
    names += ["lr", "selected", "n_seeds", "mean", "sd", "min", "max", "window_low", "window_high", "window_decades"]
    names += ["window_decades_low", "window_decades_high", "notes", "runs", "done", "solved_after", "ms_per_step"]
    return pd.DataFrame([_numbers(row) for row in rows], columns=pd.Index(names))


def _numbers(row: CellRow) -> list[object]:
    choice, spec = row.choice, row.spec
    head = [row.cell, row.label, row.mixer, spec.task.short(), spec.model.d_model, spec.model.n_layers]
    sizes = [row.n_params, row.state_size, spec.train.steps]
    chosen: list[object] = [None] * 7
    if choice is not None:
        chosen = [choice.lr, choice.select, len(choice.seeds), choice.mean, choice.sd]
        chosen += [min(choice.accuracies), max(choice.accuracies)]
    return [
        *head,
        *sizes,
        *chosen,
        *_window_numbers(row.window),
        row.n_runs,
        len(row.done),
        row.steps,
        row.milliseconds,
    ]


def _window_numbers(window: Window | None) -> list[object]:
    if window is None:
        return [None] * 6
    notes = "; ".join(window.flags)
    if window.lower is None or window.upper is None or window.width is None:
        return [None, None, 0.0, None, None, notes]
    low, high = 10**window.lower.value, 10**window.upper.value
    return [low, high, window.width.value, window.width.low, window.width.high, notes]


def _texts(row: CellRow) -> list[str]:
    """What readers see of a cell."""
    spec, choice = row.spec, row.choice
    head = [row.label, spec.task.short(), str(spec.model.d_model), str(spec.model.n_layers)]
    if choice is None:
        return [*head, "no finished run", *[""] * 9]
    low, high = min(choice.accuracies), max(choice.accuracies)
    spread = "" if choice.sd is None else f"{100 * choice.sd:.1f}"
    lr = f"{choice.lr:.3g}" + ("" if choice.select == "validation" else " (on test)")
    cells = [f"{100 * choice.mean:.1f}", spread, f"{100 * low:.1f}-{100 * high:.1f}", str(len(choice.seeds)), lr]
    return [*head, *cells, window_text(row.window), *map(_count, (row.steps, row.state_size, row.n_params)), _time(row)]


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _time(row: CellRow) -> str:
    return "" if row.milliseconds is None else f"{row.milliseconds:.1f}"


def window_text(window: Window | None) -> str:
    """`0.0004 to 0.01, 1.5 decades (1.3 to 1.7)`, with what a reader must know; empty where there is none to tell."""
    if window is None:
        return ""
    flags = "".join(f"; {flag}" for flag in window.flags)
    if window.lower is None or window.upper is None or window.width is None:
        return "none" + flags
    edges = f"{10**window.lower.value:.2g} to {10**window.upper.value:.2g}"
    return f"{edges}, {window.width.value:.2f} decades ({window.width.interval()}){flags}"


def window_edges(window: Window | None) -> list[float | None] | None:
    """A window as learning rates, for drawing: its ends, and the outer ends of their intervals (None: not bounded)."""
    if window is None or window.lower is None or window.upper is None:
        return None
    ends = (window.lower.value, window.upper.value, window.lower.low, window.upper.high)
    return [float(f"{10**x:.4g}") if math.isfinite(x) else None for x in ends]


def table_text(rows: Sequence[CellRow], form: TableFormat) -> str:
    """The table in one format, ending in a line break."""
    if form == "csv":
        return cell_table(rows).to_csv(index=False)
    if form == "latex":
        return latex(rows)
    names = ["model", "task", "d", "layers", "test accuracy", "sd", "min-max", "seeds", "best lr", "window"]
    names += ["solved after", "state", "parameters", "ms a step"]
    return markdown(pd.DataFrame([_texts(row) for row in rows], columns=pd.Index(names)))


def latex(rows: Sequence[CellRow]) -> str:
    """A table that pastes into a paper: mean and standard deviation, the window in decades, only columns that vary.

    What all rows share is said in comments above it; depths are left out where labels name them.
    """
    names = ["model", "task", r"$d$", "layers", r"accuracy (\%)", "seeds", "best lr", "window"]
    frame = pd.DataFrame([_printed(row) for row in rows], columns=pd.Index(names))
    same = [name for name in names[1:4] + names[5:6] if len(set(frame[name])) == 1]
    shared = ", ".join(f"{name} {frame[name].iloc[0]}" for name in same)
    told = "% \\usepackage{booktabs}; accuracy: mean $\\pm$ sd over seeds; window: decades [90\\% interval]\n"
    told += f"% in all rows: {shared}\n" if shared else ""
    named = ["layers"] if any("layer" in row.label for row in rows) else []
    frame = frame.drop(columns={*same, *named})
    return told + pasted(frame)


def pasted(frame: pd.DataFrame) -> str:
    """A LaTeX table of texts that are LaTeX."""
    form = "@{}" + "".join("l" if name in ("model", "task", "window") else "r" for name in frame.columns) + "@{}"
    return frame.to_latex(index=False, escape=False, column_format=form)


def escaped(frame: pd.DataFrame) -> pd.DataFrame:
    """The texts and names of a table as LaTeX."""
    shown = frame.map(lambda text: str(text).translate(ESCAPES))
    return shown.rename(columns=lambda name: str(name).translate(ESCAPES))


def _printed(row: CellRow) -> list[str]:
    """A line of the LaTeX table."""
    spec, choice = row.spec, row.choice
    head = [row.label, spec.task.short(), str(spec.model.d_model), str(spec.model.n_layers)]
    head = [text.translate(ESCAPES) for text in head]
    if choice is None:
        return [*head, "--", "0", "--", "--"]
    spread = "" if choice.sd is None else rf" \pm {100 * choice.sd:.1f}"
    lr = _rate(choice.lr) + ("" if choice.select == "validation" else " (on test)")
    return [*head, f"${100 * choice.mean:.1f}{spread}$", str(len(choice.seeds)), lr, _decades(row.window)]


def _rate(lr: float) -> str:
    """`0.0032`, or `$3.2 \\cdot 10^{-5}$` where that would be long."""
    digits, _, power = f"{lr:.1e}".partition("e")
    return f"{lr:.2g}" if lr >= 1e-4 else rf"${digits} \cdot 10^{{{int(power)}}}$"


def _decades(window: Window | None) -> str:
    """`1.5 [1.2, 1.8]`, `$\\geq$ 2.2` where it is open, `none`."""
    if window is None:
        return "--"
    if window.width is None:
        return "none"
    if math.isinf(window.width.high):
        return rf"$\geq$ {window.width.value:.1f}"
    return f"{window.width.value:.1f} [{window.width.low:.1f}, {window.width.high:.1f}]"


def markdown(frame: pd.DataFrame) -> str:
    """A pipe table; a bar inside a cell is escaped."""
    lines = [list(frame.columns), ["---"] * len(frame.columns), *frame.to_numpy().tolist()]
    escaped = [[str(value).replace("|", "\\|").replace("\n", " ") for value in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)
