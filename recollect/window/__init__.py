"""The learning-rate window as a measured quantity: the measure, the search, the comparison. Never imports torch."""

from recollect.window.cell import CellSearch, Searches, readings
from recollect.window.compare import even_grid_runs, is_open, surely_wider, wider
from recollect.window.compared import ComparedCell, at_length
from recollect.window.effect import Change, Effect, effect, surely_alike, surely_widened
from recollect.window.found import Found, find, wider_matrix
from recollect.window.measure import THRESHOLD, Estimate, Window, measure
from recollect.window.reading import Rate, Reading, sensitivity
from recollect.window.search import Ask, Search
from recollect.window.tuned import TunedCell

__all__ = [
    "THRESHOLD",
    "Ask",
    "CellSearch",
    "Change",
    "ComparedCell",
    "Effect",
    "Estimate",
    "Found",
    "Rate",
    "Reading",
    "Search",
    "Searches",
    "TunedCell",
    "Window",
    "at_length",
    "effect",
    "even_grid_runs",
    "find",
    "is_open",
    "measure",
    "readings",
    "sensitivity",
    "surely_alike",
    "surely_widened",
    "surely_wider",
    "wider",
    "wider_matrix",
]
