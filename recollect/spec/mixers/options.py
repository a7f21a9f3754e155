"""What the options of all mixers share, and how sizes are checked.

A size that follows from the model (`None` in an option) is filled in by `resolved`: a finished spec hides nothing.
"""

import sys
from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, PositiveInt, model_validator
from typing_extensions import Self

from recollect.ops.forms import OPS
from recollect.spec.base import LATER, Frozen

Rotation = Literal["none", "rope"]


class Card(NamedTuple):
    """What is known of a mixer: its paper, its state in the letters of docs/notation.md, its colour and marker in every
    figure (a hash of its name chooses where it has none), and the ops that it always picks (`recollect.ops.forms`)."""

    paper: str = ""
    state: str = ""
    colour: str = ""
    marker: str = ""
    ops: tuple[str, ...] = ()


class MixerOptions(Frozen):
    """What all mixers share. A mixer is registered by its option class, wherever in its family's file it stands.

    The module that mixes is `recollect.mixers.<name>`, its class is called like this one without `Options`.
    """

    card: ClassVar[Card] = Card()
    mimetic: ClassVar[bool] = False
    """Whether it can start as `model.mimetic_layers` asks for."""
    step_is_linear: ClassVar[bool] = False
    """Whether its step's bias is a Linear's, which `model.init` draws anew."""
    name: str

    def resolved(self, d_model: int, length: int) -> Self:
        """The same options with every size that depends on the model filled in and checked."""
        return self

    def uses(self) -> tuple[str, ...]:
        """The ops that the mixer picks with these options."""
        return self.card.ops

    def by_prefix(self) -> bool:
        """Whether in training, too, an output follows from its own row up to there, whatever else is in the batch."""
        return True

    @property
    def steps_otherwise(self) -> bool:
        """Whether its step starts otherwise than by default, where it has one."""
        return False


def families(kinds: Iterable[type[MixerOptions]]) -> dict[tuple[str, str], list[type[MixerOptions]]]:
    """Option classes by the file that they stand in: its name and what it is about."""
    found: dict[tuple[str, str], list[type[MixerOptions]]] = {}
    for kind in kinds:
        about = (sys.modules[kind.__module__].__doc__ or "").removeprefix("Options of ").rstrip(".")
        found.setdefault((kind.__module__.rpartition(".")[2], about), []).append(kind)
    return found


def own_forms(op: str) -> tuple[str, ...]:
    """The forms that an op has, the fastest first."""
    return tuple(dict.fromkeys(OPS[op].values()))


class HeadedOptions(MixerOptions):
    """Heads of equal width, whose q and k may be turned."""

    n_heads: PositiveInt = Field(1, description="H, heads of width D/H")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self


class SteppedOptions(MixerOptions):
    """A step Δ = softplus(... + b), whose bias is drawn so that Δ is log-uniform where its input is zero."""

    dt_min: Annotated[float, LATER] = Field(1e-3, ge=1e-4, description="the smallest Δ at the start")
    dt_max: Annotated[float, LATER] = Field(0.1, description="the largest (dt_min: a constant)")
    dt_start: Annotated[Literal["drawn", "bias 0", "bias 1"], LATER] = Field(
        "drawn", description="from that range, or as two historic bugs had every bias"
    )

    @model_validator(mode="after")
    def one_start(self) -> Self:
        """Refuse an empty range, and a range beside a bias."""
        if self.dt_min > self.dt_max:
            raise ValueError(f"dt_min must be at most dt_max (got {self.dt_min:g} and {self.dt_max:g})")
        if self.dt_start != "drawn" and (self.dt_min, self.dt_max) != (1e-3, 0.1):
            raise ValueError(f"dt_start: {self.dt_start} is the start itself; leave out dt_min and dt_max")
        return self

    @property
    def steps_otherwise(self) -> bool:
        return (self.dt_start, self.dt_min, self.dt_max) != ("drawn", 1e-3, 0.1)


class TurnedOptions(MixerOptions):
    """An input that may be turned."""

    positions: Rotation = Field("none", description="rotary positions on the input")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, d_model, "d_model")
        return self


def divides(parts: int, whole: int, what: str) -> None:
    """Refuse a count that does not divide a width."""
    if whole % parts:
        raise ValueError(f"{what} must divide {whole} (got {parts})")


def pairs_up(positions: str, width: int, what: str) -> None:
    """Refuse rotary positions on an odd width."""
    if positions == "rope" and width % 2:
        raise ValueError(f"model.mixer.positions: rope needs an even {what} (got {width})")


def largest_divisor(whole: int, limit: int) -> int:
    """The largest divisor of `whole` that is at most `limit`."""
    return max(n for n in range(1, limit + 1) if whole % n == 0)


def wide_heads(d_model: int) -> int:
    """How many heads a mixer with a matrix state has: 1 up to a width of 128, then heads of 128 or a little less."""
    return d_model // largest_divisor(d_model, 128)


def norms_something(head_dim: int, d_model: int) -> None:
    """Refuse heads of one channel where what they read is normalised: one number less its mean is nothing."""
    if head_dim < 2:
        raise ValueError(f"model.mixer: heads of width 1 remember nothing (d_model {d_model}); choose wider ones")


def conv(taps: int) -> tuple[str, ...]:
    """The op of a short convolution that may be left out."""
    return ("causal_conv",) if taps else ()
