"""A task of one's own: the sum so far, modulo a number, asked at the end of the row.

    3 1 4 =        numbers below 5, then the mark
          3        3 + 1 + 4 = 8, modulo 5

recollect check examples/my_task.py:Sum
recollect train examples/my_task.py:Sum mamba --lr 3e-3 --set task.modulo=3
"""

import math

import numpy as np


class Sum:
    """`vocab_size`, `length` and `draw` are all that is needed; floors and plateaus name what counts as guessing."""

    def __init__(self, modulo: int = 5, length: int = 16) -> None:
        self.modulo, self.length = modulo, length
        self.vocab_size = modulo + 1
        self.floors = {"1/M": 1 / modulo}
        self.plateaus = {"ln M": math.log(modulo)}

    def draw(self, rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tokens (B, L), the positions that are asked (B, 1), the answers there (B, 1)."""
        tokens = rng.integers(self.modulo, size=(rows, self.length))
        tokens[:, -1] = self.modulo
        answers = tokens[:, :-1].sum(axis=1, keepdims=True) % self.modulo
        return tokens, np.full((rows, 1), self.length - 1), answers
