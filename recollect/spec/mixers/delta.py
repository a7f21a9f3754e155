"""Options of delta rules."""

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import (
    Card,
    MixerOptions,
    Rotation,
    SteppedOptions,
    conv,
    divides,
    pairs_up,
    wide_heads,
)


class DeltaOptions(MixerOptions):
    """What the delta rules share."""

    n_heads: PositiveInt | None = Field(None, description="H (1 up to D = 128, then heads of 128)")
    d_conv: NonNegativeInt = Field(4, description="taps of the convolutions on q, k, v (0 = none)")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        n_heads = self.n_heads or wide_heads(d_model)
        divides(n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // n_heads, "head width")
        return self.model_copy(update={"n_heads": n_heads})


class DeltaNetOptions(DeltaOptions):
    """A matrix state that is corrected towards each new value (the delta rule)."""

    card: ClassVar[Card] = Card("Yang et al. 2024", "D²/H + 3 D (d_conv - 1)", "#CC79A7", "v", ("rms_norm", "delta"))
    name: Literal["deltanet"] = "deltanet"
    gate: bool = Field(False, description="an output gate silu(x W_g)")
    negative_eigenvalues: bool = Field(False, description="beta in (0, 2) instead of (0, 1)")

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops, *(("gate",) if self.gate else ()))


class GatedDeltaNetOptions(DeltaOptions, SteppedOptions):
    """DeltaNet whose state also decays, with a gated output."""

    card: ClassVar[Card] = Card(
        "Yang et al. 2025",
        "D²/H · expand_v + (2 + expand_v) D (d_conv - 1)",
        "#AA4499",
        ">",
        ("rms_norm", "delta", "gate"),
    )
    name: Literal["gated_deltanet"] = "gated_deltanet"
    expand_v: PositiveInt = Field(1, description="value width over key width")

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops)


class GatedDeltaProductOptions(DeltaOptions, SteppedOptions):
    """Gated DeltaNet that corrects its state several times a token."""

    card: ClassVar[Card] = Card(
        "Siems et al. 2025", "E D²/H + (1 + n + n E) D (d_conv - 1)", "#661100", "H", ("rms_norm", "delta", "gate")
    )
    name: Literal["gated_deltaproduct"] = "gated_deltaproduct"
    n_steps: PositiveInt = Field(2, description="n, corrections (Householder steps) a token")
    expand_v: PositiveInt = Field(1, description="E, value width over key width")
    negative_eigenvalues: bool = Field(True, description="beta in (0, 2) instead of (0, 1)")

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops)


class KDAOptions(DeltaOptions, SteppedOptions):
    """Kimi Delta Attention: the gated delta rule with a decay per key channel."""

    card: ClassVar[Card] = Card(
        "Kimi Team 2025", "D²/H + 3 D (d_conv - 1)", "#332288", "$K$", ("rms_norm", "kda", "sigmoid_gate")
    )
    name: Literal["kda"] = "kda"
    negative_eigenvalues: bool = Field(False, description="beta in (0, 2) instead of (0, 1)")

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops)
