"""Options of attention without softmax."""

from typing import ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.mixers.options import Card, HeadedOptions, divides, pairs_up


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
