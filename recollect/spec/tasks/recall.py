"""Options of the tasks of associative recall."""

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from recollect.spec.tasks.options import TaskOptions


class RecallOptions(TaskOptions):
    """Pairs first, then the keys again among filler."""

    vocab_size: int = Field(8192, ge=4, le=2**24, description="V, tokens in all")
    length: int = Field(64, ge=4, le=2**20, description="L, tokens in a row (even)")
    n_pairs: PositiveInt = Field(4, description="K, key-value pairs in a row")
    power_a: float = Field(
        0.01, gt=0, le=10, description="query gaps follow i^(power_a - 1): small = soon after the pairs"
    )
    vocabulary: Literal["split", "shared"] = Field(
        "shared", description="keys and values from two halves, or from one set with swapping roles"
    )
    filler: Literal["zero", "random", "random-clean"] = Field(
        "zero", description="what stands between queries; random-clean never repeats a live key"
    )

    name: str

    def short(self) -> str:
        """MQAR V=64 L=32 K=8."""
        return f"{self.name.upper()} V={self.vocab_size} L={self.length} K={self.n_pairs}"

    @model_validator(mode="after")
    def fits(self) -> "RecallOptions":
        """Refuse rows that cannot be drawn."""
        if self.length % 2:
            raise ValueError(f"length must be even (got {self.length})")
        if self.vocab_size <= self.length:
            raise ValueError(f"vocab_size must exceed length {self.length} (got {self.vocab_size})")
        keys = self.vocab_size // 2 - 1 if self.vocabulary == "split" else (self.vocab_size - 1) // 2
        if self.n_pairs > keys:
            raise ValueError(f"n_pairs must be <= {keys} at this vocabulary (got {self.n_pairs})")
        return self


class MQAROptions(RecallOptions):
    """Multi-query associative recall: every key of the row is asked once (Arora et al. 2023)."""

    name: Literal["mqar"] = "mqar"

    @model_validator(mode="after")
    def leaves_room(self) -> "MQAROptions":
        """Every query needs a slot of two tokens behind the pairs."""
        if 4 * self.n_pairs > self.length:
            raise ValueError(
                f"4 * n_pairs must be <= length {self.length} (got n_pairs {self.n_pairs}, "
                f"so length >= {4 * self.n_pairs} or n_pairs <= {self.length // 4})"
            )
        return self


class AROptions(RecallOptions):
    """Plain associative recall: one key of the row is asked (Olsson et al. 2022)."""

    name: Literal["ar"] = "ar"

    @model_validator(mode="after")
    def leaves_room(self) -> "AROptions":
        """The query needs one slot of two tokens behind the pairs."""
        if 2 * self.n_pairs + 2 > self.length:
            raise ValueError(f"2 * n_pairs + 2 must be <= length {self.length} (got n_pairs {self.n_pairs})")
        return self
