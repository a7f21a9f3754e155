"""Shards: a sweep cut into parts for an array of jobs, each with a store of its own, to be merged at the end."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.errors import BadInput
from recollect.studies import Case, Design


class Shard(NamedTuple):
    """One of so many parts, counted from 1."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Shard":
        """2/8 -> the second of eight."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise BadInput(f"--shard: a part and how many there are, such as 1/8 to 8/8 (got '{text}')")
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def store(self, path: Path) -> Path:
        """Its own store, beside the one that all are merged into."""
        return path.with_name(f"{path.stem}-{self.number}of{self.of}{path.suffix}")

    def stores(self, path: Path) -> str:
        """The stores of all shards, as a shell finds them."""
        return str(path.with_name(f"{path.stem}-*of{self.of}{path.suffix}"))

    def cut(self, cases: Sequence[Case], design: Design) -> list[Case]:
        """Its part of the runs. Every run is in exactly one; where some follow from others, whole cells are.

        They are dealt out in the order of their ids: as many to each, of all models and sizes.
        """
        names = [case.spec.id if design == "every" else case.spec.cell for case in cases]
        mine = set(sorted(set(names))[self.number - 1 :: self.of])
        return [case for name, case in zip(names, cases, strict=True) if name in mine]
