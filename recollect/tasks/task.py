"""What a task is: it draws batches and names its own yardsticks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.errors import BadInput
from recollect.spec import TaskOptions
from recollect.tasks.streams import generator

Ints = NDArray[np.int32]
IGNORED = -100


@dataclass(frozen=True)
class Batch:
    """Rows of tokens, the positions that are asked, and the right answers (-100 where there is none).

    Answers that only count together, such as the letters of a copied string, share a number in `string`.
    """

    tokens: Ints  # (B, L)
    at: Ints  # (B, Q)
    target: Ints  # (B, Q)
    string: Ints | None = None  # (B, Q): the answer's string, counted from 0 in its row

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> "Batch":
        string = None if self.string is None else self.string[rows]
        return Batch(self.tokens[rows], self.at[rows], self.target[rows], string)

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True)
class Places:
    """Where the pairs of rows stand, a value right behind its key, and for which of them each answer asks."""

    keys: Ints  # (B, K)
    values: Ints  # (B, K)
    queries: Ints  # (B, Q)
    asked: Ints  # (B, Q): a pair

    @property
    def key(self) -> Ints:
        """The key that each query repeats, (B, Q)."""
        return np.take_along_axis(self.keys, self.asked.astype(np.int64), 1)

    @property
    def value(self) -> Ints:
        """The value that each query asks for, (B, Q)."""
        return np.take_along_axis(self.values, self.asked.astype(np.int64), 1)


class Task(ABC):
    """Makes batches; torch-free, so that reports can ask it for its floors."""

    options: TaskOptions
    """Its part of the spec."""

    def __init__(self, options: TaskOptions) -> None:
        self.options = options

    @property
    def vocab_size(self) -> int:
        """Tokens the model must know."""
        return self.options.vocab_size

    @property
    def length(self) -> int:
        """The longest row it draws."""
        return self.options.length

    @abstractmethod
    def draw(self, rng: np.random.Generator, rows: int) -> Batch:
        """New rows."""

    @abstractmethod
    def floors(self) -> Mapping[str, float]:
        """Name -> accuracy of a model that does not recall."""

    def answer_floors(self) -> Mapping[str, float]:
        """The same for single answers, where several of them only count together."""
        return self.floors()

    @abstractmethod
    def plateaus(self) -> Mapping[str, float]:
        """Name -> loss at which a model that does not recall may stay."""

    def ladder(self) -> dict[str, float]:
        """Name -> loss of every plateau that training may rest on, down to 0."""
        return {**self.plateaus(), "0": 0.0}

    def places(self, batch: Batch) -> Places:
        """Where keys, values and queries stand in rows of this task."""
        raise BadInput(
            f"task {self.options.name}: its rows have no keys and values to be looked at; mqar's and ar's do"
        )

    def evaluations(self) -> tuple[str, ...]:
        """The names of the sets it is judged on."""
        return ("validation", "test")

    def evaluation(self, name: str, seed: int) -> Batch:
        """One of those sets, drawn from a stream of its own."""
        if name == "validation":
            return self.draw(generator(seed, "validation"), self.options.validation_rows)
        if name == "test":
            return self.draw(generator(seed, "test"), self.options.test_rows)
        raise KeyError(name)
