"""All kinds of figures, and a whole figure of one."""

from typing import Any

from matplotlib.figure import Figure

from recollect.report.ablation import TABLE
from recollect.report.axes import empty
from recollect.report.bands import BANDS
from recollect.report.compare import COMPARE
from recollect.report.dynamics import DYNAMICS
from recollect.report.effects import EFFECTS
from recollect.report.heatmap import HEATMAP
from recollect.report.inside import INSIDE, LOSS
from recollect.report.kind import FigureKind, Panel, Runs
from recollect.report.layout import PAPER, Print, lay_out, save
from recollect.report.lengths import LENGTHS
from recollect.report.lr import LR
from recollect.report.map import MAP
from recollect.report.params import PARAMS
from recollect.report.strip import STRIP
from recollect.report.width import WIDTH
from recollect.spec.registry import Registry
from recollect.window.select import Labelled, Select

KINDS: tuple[FigureKind[Any], ...] = (
    *(DYNAMICS, LOSS, INSIDE, LR, BANDS, LENGTHS, WIDTH, PARAMS, HEATMAP, MAP, EFFECTS, STRIP, COMPARE, TABLE),
)
FIGURES = Registry("figure", ((kind.name, kind) for kind in KINDS))


def draw_figure(
    kind: str, labelled: Labelled, title: str, scale: str, how: Print = PAPER, select: Select = "validation"
) -> Figure:
    """A figure of one kind (`FIGURES`), with title and small print."""
    found = FIGURES.find(kind)
    return draw_runs(found, found.runs(labelled, scale, select), title, how)


def draw_runs(kind: FigureKind[Any], runs: Runs, title: str, how: Print = PAPER) -> Figure:
    """The same from runs that the page shows too."""
    return lay_out(kind.drawn(runs) or [Panel(empty)], title, runs.note, how, kind.across)


__all__ = ["FIGURES", "KINDS", "PAPER", "Print", "draw_figure", "draw_runs", "save"]
