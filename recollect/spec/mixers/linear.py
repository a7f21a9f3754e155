"""Options of attention without softmax."""

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import (
    Card,
    HeadedOptions,
    MixerOptions,
    Rotation,
    conv,
    divides,
    pairs_up,
    wide_heads,
)


class LinearAttentionOptions(HeadedOptions):
    """Attention without softmax: the feature map elu + 1, a matrix as its state."""

    card: ClassVar[Card] = Card("Katharopoulos et al. 2020", "D²/H + D", "#44AA99", "h", ("linear_attention",))
    name: Literal["linear_attention"] = "linear_attention"


class BasedOptions(HeadedOptions):
    """Linear attention with the Taylor map of exp; a sliding window as a second branch when asked for."""

    card: ClassVar[Card] = Card(
        "Arora et al. 2024", "(1 + F + F²)(D + H), + 2 (W - 1) D with a window", "#999933", "<", ("linear_attention",)
    )
    name: Literal["based"] = "based"
    d_feature: PositiveInt | None = Field(None, description="F, width of q and k (8, or 16 from D = 128 on)")
    window: NonNegativeInt = Field(0, description="W, tokens of the sliding-window branch (0 = none)")

    def resolved(self, d_model: int, length: int) -> Self:
        d_feature = self.d_feature or (8 if d_model < 128 else 16)
        pairs_up(self.positions, d_feature, "d_feature")
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        if self.window:
            pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self.model_copy(update={"d_feature": d_feature})

    def uses(self) -> tuple[str, ...]:
        return (*self.card.ops, "window_attention") if self.window else self.card.ops


class DecayedOptions(MixerOptions):
    """What linear attention with a fading state shares."""

    d_conv: NonNegativeInt = Field(0, description="taps of the convolutions on q, k, v (0 = none, nor their SiLU)")
    gate: bool = Field(True, description="the output gate silu(x W_g)")
    chunk: PositiveInt = Field(64, description="tokens a chunk")

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops, *(("gate",) if self.gate else ()))


class GLAOptions(DecayedOptions):
    """Gated linear attention: a matrix state whose every row fades at a speed that the token sets."""

    card: ClassVar[Card] = Card(
        "Yang et al. 2024", "K E D, + (2 H K + E D)(d_conv - 1) with convolutions", "#117733", "8", ("dplr", "rms_norm")
    )
    name: Literal["gla"] = "gla"
    n_heads: PositiveInt | None = Field(None, description="H (1 up to D = 128, then heads of 128)")
    d_key: PositiveInt | None = Field(None, description="K, width of a head's q and k (D / 2H)")
    expand_v: PositiveInt = Field(1, description="E, width of all values over model width")
    d_decay: PositiveInt = Field(16, description="rank of the decay's projection")
    temperature: PositiveFloat = Field(16.0, description="tau, which divides the logarithm of the decay")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        n_heads = self.n_heads or wide_heads(d_model)
        divides(n_heads, d_model, "model.mixer.n_heads")
        d_key = self.d_key or max(1, d_model // (2 * n_heads))
        pairs_up(self.positions, d_key, "d_key")
        return self.model_copy(update={"n_heads": n_heads, "d_key": d_key})


class RetNetOptions(DecayedOptions):
    """Retention: a matrix state that fades at a fixed speed, another in every head."""

    card: ClassVar[Card] = Card(
        "Sun et al. 2023", "E D²/H, + (2 + E) D (d_conv - 1) with convolutions", "#882255", "d", ("ssd", "rms_norm")
    )
    name: Literal["retnet"] = "retnet"
    n_heads: PositiveInt = Field(4, description="H, heads of width D/H")
    expand_v: PositiveInt = Field(2, description="E, value width over key width")
    positions: Rotation = Field("rope", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self
