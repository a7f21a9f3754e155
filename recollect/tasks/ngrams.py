"""n-grams of strings: which occur only once, and how to make one occur twice."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recollect.spec.tasks.strings import NgramOptions
from recollect.tasks.strings import LETTER, Counts, Strings, take
from recollect.tasks.task import Ints

Draw = Callable[[np.random.Generator, int, int], Ints]


class Lookup(Strings):
    """Asks what follows an n-gram that the string holds exactly once; every such n-gram is equally likely.

    A string without one is drawn anew. In a packed row the n-gram may occur in other examples, too.
    """

    options: NgramOptions

    def questions(self, rng: np.random.Generator, lengths: Counts) -> tuple[Ints, Counts]:
        """The strings, and where in each the n-gram begins that is asked."""
        width = int(lengths.max())
        strings, place = np.empty((len(lengths), width), np.int32), np.full(len(lengths), -1)
        while len(todo := np.flatnonzero(place < 0)):
            strings[todo] = self.letters(rng, len(todo), width)
            place[todo] = choose(rng, askable(strings[todo], lengths[todo], self.options.n_gram))
        return strings, place

    def answer_odds(self) -> NDArray[np.float64]:
        """All places of the n-gram equally likely."""
        n, lengths = self.options.n_gram, range(self.options.min_length, self.options.max_length + 1)
        odds = np.zeros(self.options.max_length - n + 1)
        for letters in lengths:
            odds[1 : letters - n + 1] += 1 / (letters - n) / len(lengths)
        return odds


def codes(strings: Ints, n: int) -> NDArray[np.int64]:
    """A number for every n-gram (E, W - n + 1), the same exactly where the letters are the same."""
    letters, places = strings - LETTER, strings.shape[1] - n + 1
    out, base = np.zeros((len(strings), places), np.int64), int(letters.max()) + 1
    for k in range(n):
        out = out * base + letters[:, k : k + places]
    return out


def askable(strings: Ints, lengths: Counts, n: int) -> NDArray[np.bool_]:
    """Where an n-gram begins that occurs once and has a letter behind it (E, W - n + 1)."""
    found = codes(strings, n)
    place = np.arange(found.shape[1])
    found = np.where(place <= lengths[:, None] - n, found, -1 - place)  # behind the string: no n-gram, all different
    order = np.argsort(found, axis=1)
    ranked = np.take_along_axis(found, order, 1)
    same = np.zeros((len(found), found.shape[1] + 1), bool)
    same[:, 1:-1] = ranked[:, 1:] == ranked[:, :-1]
    once = np.empty_like(same[:, 1:])
    np.put_along_axis(once, order, ~(same[:, 1:] | same[:, :-1]), 1)
    return once & (place < lengths[:, None] - n)


def choose(rng: np.random.Generator, allowed: NDArray[np.bool_]) -> Counts:
    """One of the allowed columns of every row, or -1."""
    lots = np.where(allowed, rng.random(allowed.shape), -1.0)
    return np.where(allowed.any(1), lots.argmax(1), -1)


def with_duplicates(rng: np.random.Generator, lengths: Counts, n: int, draw: Draw) -> Ints:
    """Strings in which one n-gram has replaced another everywhere; those that hold it twice afterwards."""
    width = int(lengths.max())
    strings, times = np.empty((len(lengths), width), np.int32), np.zeros(len(lengths), np.int64)
    while len(todo := np.flatnonzero(times < 2)):
        drawn, letters = draw(rng, len(todo), width), lengths[todo]
        one = rng.integers(0, letters - 2 * n + 1)
        other = rng.integers(one + n, letters - n + 1)
        swap = rng.random(len(todo)) < 0.5
        old, new = take(drawn, np.where(swap, one, other), n), take(drawn, np.where(swap, other, one), n)
        strings[todo] = replace(drawn, letters, old, new)
        times[todo] = occurrences(strings[todo], letters, new)
    return strings


def replace(strings: Ints, lengths: Counts, old: Ints, new: Ints) -> Ints:
    """Put `new` (E, n) for every `old`, from the left, as `str.replace` does."""
    out, n = strings.copy(), old.shape[1]
    free = np.zeros(len(strings), np.int64)
    for i in range(strings.shape[1] - n + 1):
        hit = (strings[:, i : i + n] == old).all(1) & (i >= free) & (i + n <= lengths)
        out[hit, i : i + n] = new[hit]
        free[hit] = i + n
    return out


def occurrences(strings: Ints, lengths: Counts, gram: Ints) -> Counts:
    """How often an n-gram (E, n) begins in each string."""
    found, n = np.zeros(len(strings), np.int64), gram.shape[1]
    for i in range(strings.shape[1] - n + 1):
        found += (strings[:, i : i + n] == gram).all(1) & (i + n <= lengths)
    return found
