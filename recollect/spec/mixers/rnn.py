"""Options of recurrent networks with gates."""

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import (
    Card,
    MixerOptions,
    TurnedOptions,
    conv,
    divides,
    largest_divisor,
    norms_something,
    wide_heads,
)


class RWKV4Options(TurnedOptions):
    """RWKV-4's time mix: a decaying average of values, weighted by exp(key)."""

    card: ClassVar[Card] = Card("Peng et al. 2023", "4 D", "#56B4E9", "P", ("token_shift", "wkv", "sigmoid_gate"))
    name: Literal["rwkv4"] = "rwkv4"


class RWKV7Options(MixerOptions):
    """RWKV-7's time mix: a matrix state that fades per channel and is corrected along learned directions."""

    card: ClassVar[Card] = Card(
        "Peng et al. 2025", "D P + D", "#1F78B4", "$7$", ("token_shifts", "removal_keys", "dplr", "bonus_norm")
    )
    name: Literal["rwkv7"] = "rwkv7"
    head_dim: PositiveInt | None = Field(None, description="P (the largest divisor of D up to 64)")
    gate: bool = Field(True, description="the output gate")
    chunk: PositiveInt = Field(32, description="tokens a chunk")

    def resolved(self, d_model: int, length: int) -> Self:
        head_dim = self.head_dim or largest_divisor(d_model, 64)
        divides(head_dim, d_model, "model.mixer.head_dim")
        norms_something(head_dim, d_model)
        return self.model_copy(update={"head_dim": head_dim})


class MLSTMOptions(MixerOptions):
    """The LSTM with a matrix memory: exponential gates, keys and queries."""

    card: ClassVar[Card] = Card(
        "Beck et al. 2024",
        "K D + H (K + 1), + (2 H K + D)(d_conv - 1) with convolutions",
        "#A6761D",
        "$m$",
        ("mlstm", "sigmoid_gate"),
    )
    name: Literal["mlstm"] = "mlstm"
    n_heads: PositiveInt | None = Field(None, description="H (1 up to D = 128, then heads of 128)")
    d_key: PositiveInt | None = Field(None, description="K, width of a head's q and k (D / 2H)")
    d_conv: NonNegativeInt = Field(0, description="taps of the convolutions on q, k, v (0 = none, nor their SiLU)")
    gate: bool = Field(True, description="the output gate")
    chunk: PositiveInt = Field(64, description="tokens a chunk")

    def resolved(self, d_model: int, length: int) -> Self:
        n_heads = self.n_heads or wide_heads(d_model)
        divides(n_heads, d_model, "model.mixer.n_heads")
        norms_something(d_model // n_heads, d_model)
        return self.model_copy(update={"n_heads": n_heads, "d_key": self.d_key or max(1, d_model // (2 * n_heads))})

    def uses(self) -> tuple[str, ...]:
        ops = self.card.ops if self.gate else self.card.ops[:1]
        return (*conv(self.d_conv), *ops)


class LSTMOptions(TurnedOptions):
    """torch's LSTM, the classical baseline."""

    card: ClassVar[Card] = Card("Hochreiter & Schmidhuber 1997", "2 D", "#8C6D31", "*", ("lstm",))
    name: Literal["lstm"] = "lstm"
