"""The paper's cells, whose training steps are timed, and the options that choose some of them."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from recollect.spec import MIXERS

PAIRS, BATCH = {64: 4, 256: 16}, {64: 512, 256: 256}
WIDTHS, DEPTHS = (64, 256), (1, 2)


@dataclass(frozen=True)
class Cell:
    """A mixer in a model of the paper's, at one of its sizes."""

    mixer: str
    length: int
    d_model: int
    n_layers: int

    def __str__(self) -> str:
        return (
            f"{self.mixer:18} L={self.length:<4} d={self.d_model:<4} {self.n_layers} layer{'s' * (self.n_layers > 1)}"
        )

    def fields(self) -> dict[str, object]:
        """The fields of its spec under the protocol `paper`; few rows, since only steps are timed."""
        return {
            "task.length": self.length,
            "task.n_pairs": PAIRS[self.length],
            "task.rows": 2 * BATCH[self.length],
            "task.validation_rows": 16,
            "model.d_model": self.d_model,
            "model.n_layers": self.n_layers,
            "train.batch_size": BATCH[self.length],
            "train.steps": 100_000,
            "train.eval_every": 100_000,
        }


def parser(about: str) -> argparse.ArgumentParser:
    """The options that choose cells."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument("--only", default=",".join(MIXERS), help="mixers, joined by commas")
    made.add_argument("--cells", type=numbers, default=tuple(PAIRS), help="lengths: 64 for (64, 4), 256 for (256, 16)")
    made.add_argument("--widths", type=numbers, default=WIDTHS)
    made.add_argument("--layers", type=numbers, default=DEPTHS)
    made.add_argument("--rounds", type=int, default=5, help="turns of every side")
    return made


def numbers(text: str) -> tuple[int, ...]:
    """64,256 -> (64, 256)."""
    return tuple(int(word) for word in text.split(","))


def chosen(options: argparse.Namespace) -> Iterator[Cell]:
    """The cells that the options name."""
    for length in options.cells:
        for width in options.widths:
            for layers in options.layers:
                yield from (Cell(mixer, length, width, layers) for mixer in options.only.split(","))
