"""Associative recall: K pairs first, then some of the keys again among filler.

    k1 v1 k2 v2 | .. .. k2 .. .. .. k1 ..        K = 2, L = 12; `..` is filler
                        v2          v1           targets, at the index of the repeated key

Behind the pairs lie S = (L - 2K)/2 slots of two tokens. Slot i is drawn with weight i^(a-1), without replacement, in
the order of the pairs; so a query's place alone says a little about its pair, which `position_odds` computes.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from recollect.spec import RecallOptions
from recollect.tasks.task import Batch, Ints, Places, Task

CHUNK = 4096
"""Rows drawn at once: bounds the memory, whatever the number of rows."""


class Recall(Task):
    """Rows with K pairs and Q queries; which keys are asked is the subclass's choice."""

    options: RecallOptions

    def __init__(self, options: RecallOptions, n_queries: int) -> None:
        super().__init__(options)
        self.n_queries = n_queries
        self.n_slots = options.length // 2 - options.n_pairs

    def draw(self, rng: np.random.Generator, rows: int) -> Batch:
        parts = [self._draw(rng, min(CHUNK, rows - start)) for start in range(0, rows, CHUNK)]
        tokens, at, target = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Batch(tokens, at, target)

    def floors(self) -> dict[str, float]:
        odds = self._odds()
        return {"1/K": 1 / self.options.n_pairs, "position only": float(odds.max(1).sum() / self.n_queries)}

    def plateaus(self) -> dict[str, float]:
        V, K = self.options.vocab_size, self.options.n_pairs
        halves = {"ln(V/2)": math.log(V / 2)} if self.options.vocabulary == "split" else {}
        return {"ln V": math.log(V), **halves, "ln K": math.log(K)}

    def ladder(self) -> dict[str, float]:
        return {**self.plateaus(), "position only": self.position_loss(), "0": 0.0}

    def places(self, batch: Batch) -> Places:
        rows, K = len(batch), self.options.n_pairs
        keys = np.tile(np.arange(0, 2 * K, 2, dtype=np.int32), (rows, 1))
        asked = np.take_along_axis(batch.tokens, batch.at.astype(np.int64), 1)  # (B, Q)
        pair = (asked[:, :, None] == batch.tokens[:, None, 0 : 2 * K : 2]).argmax(2)
        return Places(keys, keys + 1, batch.at, pair.astype(np.int32))

    def position_loss(self) -> float:
        """The loss of the best guess from the query's position alone."""
        odds = self._odds()
        share = odds / odds.sum(1, keepdims=True)
        return float(-(odds * np.log(np.where(share > 0, share, 1))).sum() / self.n_queries)

    def _odds(self) -> NDArray[np.float64]:
        """P(slot s holds a query of pair j), (S, K)."""
        K = self.options.n_pairs
        drawn = position_odds(self.n_slots, self.n_queries, self.options.power_a)
        if self.n_queries == K:
            return drawn
        return np.repeat(drawn.sum(1, keepdims=True) / K, K, axis=1)

    def _draw(self, rng: np.random.Generator, rows: int) -> tuple[Ints, Ints, Ints]:
        K = self.options.n_pairs
        keys, values = self._pairs(rng, rows)
        asked = np.arange(K)[None] if self.n_queries == K else rng.integers(K, size=(rows, self.n_queries))
        at = 2 * K + 2 * self._slots(rng, rows)
        tokens = self._filler(rng, rows, keys)
        tokens[:, 0 : 2 * K : 2], tokens[:, 1 : 2 * K : 2] = keys, values
        np.put_along_axis(tokens, at, np.take_along_axis(keys, asked, 1), 1)
        return tokens, at.astype(np.int32), np.take_along_axis(values, asked, 1)

    def _pairs(self, rng: np.random.Generator, rows: int) -> tuple[Ints, Ints]:
        V, K = self.options.vocab_size, self.options.n_pairs
        if self.options.vocabulary == "split":
            return 1 + distinct(rng, rows, K, V // 2 - 1), V // 2 + distinct(rng, rows, K, V - V // 2)
        both = 1 + distinct(rng, rows, 2 * K, V - 1)
        return both[:, :K], both[:, K:]

    def _slots(self, rng: np.random.Generator, rows: int) -> NDArray[np.int64]:
        """Exponential clocks ring in the order in which slots would be drawn one after the other."""
        rate = np.arange(1, self.n_slots + 1) ** (self.options.power_a - 1)
        clocks = rng.standard_exponential((rows, self.n_slots), dtype=np.float32) / rate.astype(np.float32)
        return np.argsort(clocks, axis=1)[:, : self.n_queries]

    def _filler(self, rng: np.random.Generator, rows: int, keys: Ints) -> Ints:
        V, shape = self.options.vocab_size, (rows, self.options.length)
        if self.options.filler == "zero":
            return np.zeros(shape, np.int32)
        tokens = rng.integers(V, size=shape, dtype=np.int32)
        if self.options.filler == "random-clean":
            live = np.zeros((rows, V), bool)
            np.put_along_axis(live, keys.astype(np.int64), True, 1)
            while (wrong := np.take_along_axis(live, tokens, 1)).any():
                tokens[wrong] = rng.integers(V, size=int(wrong.sum()), dtype=np.int32)
        return tokens


def distinct(rng: np.random.Generator, rows: int, count: int, below: int) -> Ints:
    """`count` different numbers of 0..below-1 in every row, in random order."""
    if count * count > 4 * below:
        order = np.argsort(rng.random((rows, below), dtype=np.float32), axis=1)
        return order[:, :count].astype(np.int32)
    drawn = rng.integers(below, size=(rows, count), dtype=np.int32)
    todo = np.arange(rows)
    while True:
        ranked = np.sort(drawn[todo], axis=1)
        todo = todo[(ranked[:, 1:] == ranked[:, :-1]).any(1)]
        if not len(todo):
            return drawn
        drawn[todo] = rng.integers(below, size=(len(todo), count), dtype=np.int32)


@cache
def position_odds(n_slots: int, n_draws: int, power_a: float) -> NDArray[np.float64]:
    """P(slot s is the j-th drawn), (S, n_draws), by integrating over the time at which its clock rings.

    At time t slot i has rung with probability p_i = 1 - exp(-w_i t); slot s is j-th when exactly j - 1 others have
    rung, and that count's distribution is the product of all (1 - p_i + p_i z) with the factor of s divided out.
    """
    weight = np.arange(1, n_slots + 1) ** (power_a - 1)
    log_t, step = np.linspace(-14, 5 + math.log(n_slots), 500, retstep=True)
    t = np.exp(log_t)[:, None]
    rung = -np.expm1(-weight * t)  # (T, S)
    counts = np.zeros((len(t), n_slots + 1))
    counts[:, 0] = 1
    for s in range(n_slots):
        counts[:, 1:] = counts[:, 1:] * (1 - rung[:, s : s + 1]) + counts[:, :-1] * rung[:, s : s + 1]
        counts[:, 0] *= 1 - rung[:, s]
    odds = np.empty((n_slots, n_draws))
    for s in range(n_slots):
        density = weight[s] * np.exp(-weight[s] * t[:, 0]) * t[:, 0] * step
        odds[s] = density @ _without(counts, rung[:, s])[:, :n_draws]
    return odds


def _without(counts: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide (1 - p + p z) out of the polynomials, from the end where the division is stable."""
    n = counts.shape[1] - 1
    low, high = np.zeros((len(p), n + 1)), np.zeros((len(p), n + 1))
    stay, go = np.maximum(1 - p, 0.5), np.maximum(p, 0.5)
    for j in range(n):
        low[:, j] = (counts[:, j] - p * low[:, j - 1]) / stay
        high[:, n - 1 - j] = (counts[:, n - j] - (1 - p) * high[:, n - j]) / go
    return np.where(p[:, None] < 0.5, low, high)[:, :n]
