"""What the options of all mixers share, and how sizes are checked.

A size that follows from the model (`None` in an option) is filled in by `resolved`: a finished spec hides nothing.
"""

from typing import ClassVar, Literal

from typing_extensions import Self

from recollect.spec.base import Frozen

Rotation = Literal["none", "rope"]


class MixerOptions(Frozen):
    """What all mixers share. A mixer is registered by its option class, wherever in this file it stands.

    `paper` and `state` are shown by `recollect list mixers`; `colour` and `marker` are its own in every figure (a hash
    of its name chooses where it has none). The module that mixes is `recollect.mixers.<name>`, its class is called like
    this one without `Options`.
    """

    name: str
    paper: ClassVar[str] = ""
    state: ClassVar[str] = ""
    colour: ClassVar[str] = ""
    marker: ClassVar[str] = ""

    def resolved(self, d_model: int, length: int) -> Self:
        """The same options with every size that depends on the model filled in and checked."""
        return self

    def uses(self) -> tuple[str, ...]:
        """The ops that the mixer picks (`recollect.ops.forms`)."""
        return ()


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


def conv(taps: int) -> tuple[str, ...]:
    """The op of a short convolution that may be left out."""
    return ("causal_conv",) if taps else ()
