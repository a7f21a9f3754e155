"""How what is read, or a gradient, fades with the distance; and what the tokens leave of a state.

mean |M_ij| over i - j = d  ~  a e^{-d/ℓ},   d >= 1         ℓ the fitted length, in tokens
"""

import numpy as np
from numpy.typing import NDArray

from recollect.inside.scores import Floats
from recollect.tasks.task import Ints, Places

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
ROLES = ("key", "value", "query", "filler")


def by_distance(M: NDArray[np.floating]) -> Floats:
    """The mean of |M_ij| over rows, heads and i, for every distance i - j = 0..L-1, of M (B, H, L, L)."""
    size = np.abs(M).mean((0, 1), dtype=np.float64)
    return np.array([np.diagonal(size, -d).mean() for d in range(len(size))])


def to_query(norms: NDArray[np.floating], queries: Ints) -> Floats:
    """The mean of gradient norms (B, Q, L) over queries (B, Q), for every distance q - j; NaN where none is so far."""
    distance = queries[..., None] - np.arange(norms.shape[-1])
    found = [norms[distance == d] for d in range(norms.shape[-1])]
    return np.array([part.mean() if part.size else np.nan for part in found], dtype=np.float64)


def fitted_length(means: Floats) -> float:
    """ℓ, by least squares on the logarithms; distances count as often as they occur; infinite where nothing fades."""
    d = np.arange(len(means))
    use = (d > 0) & np.isfinite(means) & (means > 0)
    if use.sum() < 2:
        return 0.0 if not use.any() else np.inf
    weight = np.sqrt(len(means) - d[use])  # polyfit squares it
    slope = np.polyfit(d[use], np.log(means[use]), 1, w=weight)[0]
    return float(-1 / slope) if slope < -1e-9 else np.inf


def spectrum(decays: NDArray[np.floating]) -> dict[str, float]:
    """Quantiles of the eigenvalues (B, L, n) that multiply the state."""
    return {f"{q:.0%}": float(value) for q, value in zip(QUANTILES, np.quantile(decays, QUANTILES), strict=True)}


def forgotten(decays: NDArray[np.floating], places: Places) -> dict[str, float]:
    """The mean of -ln |λ| at the tokens of each role: where Mamba's Δ opens, for Δ A is what is summed there."""
    lost = -np.log(np.clip(np.abs(decays), 1e-12, None)).mean(-1)  # (B, L)
    role = np.full(lost.shape, ROLES.index("filler"))
    for name, columns in (("key", places.keys), ("value", places.values), ("query", places.queries)):
        np.put_along_axis(role, columns.astype(np.int64), ROLES.index(name), 1)
    return {name: float(lost[role == i].mean()) for i, name in enumerate(ROLES) if (role == i).any()}
