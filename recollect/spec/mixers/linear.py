"""Options of attention without softmax."""

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import MixerOptions, Rotation, divides, pairs_up


class LinearAttentionOptions(MixerOptions):
    """Attention without softmax: the feature map elu + 1, a matrix as its state."""

    paper: ClassVar[str] = "Katharopoulos et al. 2020"
    state: ClassVar[str] = "D²/H + D"
    colour: ClassVar[str] = "#44AA99"
    marker: ClassVar[str] = "h"
    name: Literal["linear_attention"] = "linear_attention"
    n_heads: PositiveInt = Field(1, description="H, heads of width D/H")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self

    def uses(self) -> tuple[str, ...]:
        return ("linear_attention",)


class BasedOptions(MixerOptions):
    """Linear attention with the Taylor map of exp; a sliding window as a second branch when asked for."""

    paper: ClassVar[str] = "Arora et al. 2024"
    state: ClassVar[str] = "(1 + F + F²)(D + H), + 2 (W - 1) D with a window"
    colour: ClassVar[str] = "#999933"
    marker: ClassVar[str] = "<"
    name: Literal["based"] = "based"
    n_heads: PositiveInt = Field(1, description="H, heads of width D/H")
    d_feature: PositiveInt | None = Field(None, description="F, width of q and k (8, or 16 from D = 128 on)")
    window: NonNegativeInt = Field(0, description="W, tokens of the sliding-window branch (0 = none)")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        d_feature = self.d_feature or (8 if d_model < 128 else 16)
        pairs_up(self.positions, d_feature, "d_feature")
        if self.window:
            pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self.model_copy(update={"d_feature": d_feature})

    def uses(self) -> tuple[str, ...]:
        return ("linear_attention", "window_attention") if self.window else ("linear_attention",)
