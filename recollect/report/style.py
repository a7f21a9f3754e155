"""One look for all figures: readable at column width, colour-blind safe (Okabe & Ito)."""

from pathlib import Path
from typing import Any

INK = "#555555"
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")

RC: Any = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "svg.hashsalt": "recollect",
    "pdf.fonttype": 42,
}


def colour(index: int) -> str:
    """The colour of the index-th series."""
    return _PALETTE[index % len(_PALETTE)]


def outputs(folder: Path, name: str) -> list[Path]:
    """The files that a figure is written to."""
    return [folder / f"{name}.{ending}" for ending in ("png", "pdf", "svg")]


def plain_metadata(file: Path) -> dict[str, Any]:
    """No date in the file: the same figure is the same bytes."""
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix, {})
