"""How much of what a position reads comes from where: shares of mixing matrices, on the task's own structure.

    .. k v .. .. k          a query at q, its key at p, its value at p + 1

    induction               from q on p + 1
    behind value            from q on p + 2, where a convolution may have brought key and value together
    key lookup              from q on p
    previous token          from p + 1 on p, for every pair
    value mass              from q on all values of the row: one that guesses among them against one that finds it

and as Olsson et al. 2022 define them, on random tokens that are said four times over:

    prefix matching         from every token on those that followed it before
    previous, anywhere      from every token on the one before

A share is of absolute mass, Σ|M_ij| over what is read by Σ_j |M_ij|: attention's weights themselves, and what signed
matrices can be compared by. Chance is the score of a row that reads all positions up to its own alike, counted.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.tasks.task import Ints, Places

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
REPEATS = 4
OLSSON = ("prefix matching", "previous, anywhere")


AT_ANSWER = ("induction", "behind value")
"""Where a model that recalls reads: at the answer or, behind a convolution, one token later."""


@dataclass(frozen=True)
class Score:
    """A share of the mass: of every head or channel, of all of them together, and by chance."""

    heads: Floats  # (H,)
    together: float
    chance: float

    @property
    def best(self) -> float:
        """Of the head or channel that has most of it."""
        return float(self.heads.max())


def strongest(looks: Mapping[str, Mapping[int, Any]], n_layers: int) -> dict[int, float]:
    """Step -> the score of the head or channel that reads most at the answer, or right behind it, in any layer."""
    names = itertools.product(range(n_layers), AT_ANSWER)
    found = [looks[f"{layer} {name}, best"] for layer, name in names]
    return {step: max(float(one[step]) for one in found) for step in found[0]}


def share(M: NDArray[np.floating], at: Ints, read: Marks) -> Score:
    """The score of rows `at` (B, Q) of matrices M (B, H, L, L) for the columns that `read` (B, Q, L) marks."""
    index = at.astype(np.int64)
    mass = np.abs(np.take_along_axis(M, index[:, None, :, None], 2)).astype(np.float64)  # (B, H, Q, L)
    found, whole = (mass * read[:, None]).sum(-1), mass.sum(-1)  # (B, H, Q)
    together = _ratio(found.sum(1), whole.sum(1)).mean()
    visible = read & (np.arange(read.shape[-1]) <= index[..., None])
    chance = (visible.sum(-1) / (index + 1)).mean()
    return Score(_ratio(found, whole).mean((0, 2)), float(together), float(chance))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """0 where nothing is read at all."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def score_places(M: NDArray[np.floating], places: Places) -> dict[str, Score]:
    """The five scores on the task's own structure."""
    length = M.shape[-1]
    values = np.zeros((len(M), length), bool)
    np.put_along_axis(values, places.values.astype(np.int64), True, 1)
    everywhere = np.broadcast_to(values[:, None], (*places.queries.shape, length))
    return {
        "induction": share(M, places.queries, _marked(places.value, length)),
        "behind value": share(M, places.queries, _marked(places.value + 1, length)),
        "key lookup": share(M, places.queries, _marked(places.key, length)),
        "previous token": share(M, places.values, _marked(places.keys, length)),
        "value mass": share(M, places.queries, everywhere),
    }


def _marked(columns: Ints, length: int) -> Marks:
    """One column (B, Q) a row, as marks (B, Q, L)."""
    return np.equal(columns[..., None], np.arange(length))


def repeated(rng: np.random.Generator, rows: int, length: int, vocab_size: int) -> Ints:
    """Random tokens, different from one another where the vocabulary allows, said four times over: (B, L)."""
    period = max(2, length // REPEATS)
    drawn = [rng.choice(vocab_size, period, replace=period > vocab_size) for _ in range(rows)]
    return np.tile(np.array(drawn, np.int32), (1, -(-length // period)))[:, :length]


def score_repeats(M: NDArray[np.floating], tokens: Ints) -> dict[str, Score]:
    """The two scores on repeated tokens (B, L); prefix matching counts from the first repetition on."""
    rows, length = tokens.shape
    place = np.arange(length)
    followed = np.zeros((rows, length, length), bool)
    followed[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]
    followed &= place <= place[:, None]
    again = np.tile(np.flatnonzero(followed.any(-1).all(0)), (rows, 1)).astype(np.int32)
    later = np.tile(place[1:], (rows, 1)).astype(np.int32)
    matched = np.take_along_axis(followed, again[..., None].astype(np.int64), 1)
    found = share(M, again, matched), share(M, later, _marked(later - 1, length))
    return dict(zip(OLSSON, found, strict=True))
