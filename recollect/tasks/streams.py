"""Randomness as a function of (seed, stream, step): no state is kept, so nothing has to be restored."""

import hashlib
from typing import Literal

import numpy as np

Stream = Literal["data", "validation", "test", "initialisation", "order", "dropout", "length", "duplicate"]


def derive(seed: int, stream: Stream, step: int = 0) -> int:
    """A 63-bit seed of its own for every (seed, stream, step)."""
    digest = hashlib.blake2b(f"{seed}/{stream}/{step}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def generator(seed: int, stream: Stream, step: int = 0) -> np.random.Generator:
    """The generator of one stream at one step."""
    return np.random.Generator(np.random.PCG64(derive(seed, stream, step)))
