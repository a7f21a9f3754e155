"""A window in the terminal: accuracy and solve rate against the learning rate, in plain characters."""

import math
from collections.abc import Sequence

from recollect.window import Rate, Window

LEVELS = 10
MARGIN = 9
NARROWEST, WIDEST = 40, 100


def plot(window: Window, width: int) -> str:
    """Accuracy as dots over log lr, below it the solve rate, the window with its edges' intervals, the axis."""
    columns = min(max(width, NARROWEST), WIDEST) - MARGIN
    lines = [f"{level / LEVELS:>{MARGIN - 3}.1f} |{_dots(window, columns, level)}" for level in range(LEVELS, -1, -1)]
    lines += [
        f"{'solved':>{MARGIN - 3}} |{_solved(window, columns)}",
        f"{'window':>{MARGIN - 3}} |{_marks(window, columns)}",
        f"{'lr':>{MARGIN - 3}} +{_ticks(window, columns)}",
        f"{'':{MARGIN - 1}}{_numbers(window, columns)}",
        f"* mean accuracy; solved: tenths of the runs with accuracy >= {window.threshold:g}, # all of them; "
        "[ ] edges, ( ) their 90 % intervals",
    ]
    return "\n".join(line.rstrip() for line in lines)


def _column(window: Window, x: float, columns: int) -> int:
    """The column of a log10 lr; what lies outside of the range is drawn at its end."""
    share = (x - window.low) / (window.high - window.low)
    return round(min(max(share, 0.0), 1.0) * (columns - 1))


def _stacked(window: Window, columns: int) -> dict[int, list[Rate]]:
    """Column -> the learning rates that fall into it."""
    found: dict[int, list[Rate]] = {}
    for rate in window.rates:
        found.setdefault(_column(window, rate.x, columns), []).append(rate)
    return found


def _dots(window: Window, columns: int, level: int) -> str:
    """One line of the plot; where nothing is drawn, the threshold's line is dotted."""
    ground = "." if level == round(window.threshold * LEVELS) else " "
    line = [ground] * columns
    for column, stacked in _stacked(window, columns).items():
        runs = sum(rate.total for rate in stacked)
        accuracy = sum(rate.accuracy * rate.total for rate in stacked) / runs
        if math.floor(accuracy * LEVELS + 0.5) == level:
            line[column] = "*"
    return "".join(line)


def _solved(window: Window, columns: int) -> str:
    """The share of the runs that succeeded: a digit of tenths, # for all."""
    line = [" "] * columns
    for column, stacked in _stacked(window, columns).items():
        share = sum(rate.solved for rate in stacked) / sum(rate.total for rate in stacked)
        line[column] = "#" if share == 1 else str(int(10 * share))
    return "".join(line)


def _marks(window: Window, columns: int) -> str:
    """( [ ) ======= ( ] ): the window, its edges, their intervals; < and > where it is open; x at a hole."""
    line = [" "] * columns
    if window.lower is None or window.upper is None:
        return "none"
    first, last = (_column(window, edge.value, columns) for edge in (window.lower, window.upper))
    line[first : last + 1] = "=" * (last + 1 - first)
    for low, high in window.holes:
        begin, end = _column(window, low, columns), _column(window, high, columns)
        line[begin : end + 1] = "x" * (end + 1 - begin)
    ends = (window.lower.low, "("), (window.lower.high, ")"), (window.upper.low, "("), (window.upper.high, ")")
    for x, mark in ends:
        line[_column(window, x, columns)] = mark
    line[first] = "<" if math.isinf(window.lower.low) else "["
    line[last] = ">" if math.isinf(window.upper.high) else "]"
    return "".join(line)


def _decades(window: Window) -> Sequence[int]:
    return range(math.ceil(window.low - 1e-6), math.floor(window.high + 1e-6) + 1)


def _ticks(window: Window, columns: int) -> str:
    line = ["-"] * columns
    for decade in _decades(window):
        line[_column(window, decade, columns)] = "+"
    return "".join(line)


def _numbers(window: Window, columns: int) -> str:
    """The decades under their ticks, as many as have room."""
    line, free = [" "] * (columns + MARGIN), 0
    for decade in _decades(window):
        text = f"1e{decade}"
        start = max(0, _column(window, decade, columns) - len(text) // 2)
        if start >= free:
            line[start : start + len(text)] = text
            free = start + len(text) + 1
    return "".join(line)
