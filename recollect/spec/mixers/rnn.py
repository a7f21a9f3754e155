"""Options of recurrent networks with gates."""

from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import Self

from recollect.spec.mixers.options import MixerOptions, Rotation, pairs_up


class RWKV4Options(MixerOptions):
    """RWKV-4's time mix: a decaying average of values, weighted by exp(key)."""

    paper: ClassVar[str] = "Peng et al. 2023"
    state: ClassVar[str] = "4 D"
    colour: ClassVar[str] = "#56B4E9"
    marker: ClassVar[str] = "P"
    name: Literal["rwkv4"] = "rwkv4"
    positions: Rotation = Field("none", description="rotary positions on the input")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, d_model, "d_model")
        return self

    def uses(self) -> tuple[str, ...]:
        return "token_shift", "wkv", "sigmoid_gate"


class LSTMOptions(MixerOptions):
    """torch's LSTM, the classical baseline."""

    paper: ClassVar[str] = "Hochreiter & Schmidhuber 1997"
    state: ClassVar[str] = "2 D"
    colour: ClassVar[str] = "#8C6D31"
    marker: ClassVar[str] = "*"
    name: Literal["lstm"] = "lstm"
    positions: Rotation = Field("none", description="rotary positions on the input")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, d_model, "d_model")
        return self

    def uses(self) -> tuple[str, ...]:
        return ("lstm",)
