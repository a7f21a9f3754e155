"""Options of recurrent networks with gates."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import Card, MixerOptions, TurnedOptions, divides, largest_divisor


class RWKV4Options(TurnedOptions):
    """RWKV-4's time mix: a decaying average of values, weighted by exp(key)."""

    card: ClassVar[Card] = Card("Peng et al. 2023", "4 D", "#56B4E9", "P", ("token_shift", "wkv", "sigmoid_gate"))
    name: Literal["rwkv4"] = "rwkv4"


class RWKV7Options(MixerOptions):
    """RWKV-7's time mix: a matrix state that fades per channel and is corrected along learned directions."""

    card: ClassVar[Card] = Card("Peng et al. 2025", "D P + D", "#1F78B4", "p", ("token_shift", "dplr"))
    name: Literal["rwkv7"] = "rwkv7"
    head_dim: PositiveInt | None = Field(None, description="P (the largest divisor of D up to 64)")
    gate: bool = Field(True, description="the output gate")
    chunk: PositiveInt = Field(64, description="tokens a chunk")

    def resolved(self, d_model: int, length: int) -> Self:
        head_dim = self.head_dim or largest_divisor(d_model, 64)
        divides(head_dim, d_model, "model.mixer.head_dim")
        return self.model_copy(update={"head_dim": head_dim})


class LSTMOptions(TurnedOptions):
    """torch's LSTM, the classical baseline."""

    card: ClassVar[Card] = Card("Hochreiter & Schmidhuber 1997", "2 D", "#8C6D31", "*", ("lstm",))
    name: Literal["lstm"] = "lstm"
