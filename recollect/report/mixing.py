"""Mixing matrices: what every position takes from every earlier one. First the value, then its drawing."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from recollect.errors import BadInput

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class MixingPanel:
    """One matrix (L, L): row = the position that reads, column = the position that is read."""

    name: str
    matrix: Matrix
    limit: float  # the largest absolute entry
    is_signed: bool


@dataclass(frozen=True)
class MixingFigure:
    """What the figure shows."""

    title: str
    panels: tuple[MixingPanel, ...]


def mixing_figure(matrices: Mapping[str, NDArray[np.floating]], title: str) -> MixingFigure:
    """Named square matrices, as a probe or a user hands them over."""
    return MixingFigure(title, tuple(_panel(name, matrix) for name, matrix in matrices.items()))


def _panel(name: str, matrix: NDArray[np.floating]) -> MixingPanel:
    plain = np.asarray(matrix, dtype=np.float64)
    if plain.ndim != 2 or plain.shape[0] != plain.shape[1] or not plain.size:
        raise BadInput(f"mixing {name}: a square matrix (L, L) is needed (got shape {plain.shape})")
    if not np.isfinite(plain).all():
        raise BadInput(f"mixing {name}: {int((~np.isfinite(plain)).sum())} entries are not finite")
    return MixingPanel(name, plain, float(np.abs(plain).max()), bool(plain.min() < 0))


def draw_mixing(panel: MixingPanel, axes: Axes) -> None:
    """Positive entries from white to blue; where some are negative, those are red."""
    limit = panel.limit or 1.0
    cmap, low = ("RdBu", -limit) if panel.is_signed else ("Blues", 0.0)
    axes.imshow(panel.matrix, cmap=cmap, vmin=low, vmax=limit, interpolation="nearest")
    axes.set(xlabel="position read", ylabel="position that reads", title=f"{panel.name}\nup to {panel.limit:.2g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
