"""Options of softmax attention."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, PositiveInt
from typing_extensions import Self

from recollect.spec.base import LATER
from recollect.spec.mixers.options import Card, HeadedOptions, MixerOptions, divides, pairs_up


class AttentionOptions(MixerOptions):
    """Softmax attention, with positions on the scores and short convolutions on any of Q, K, V."""

    card: ClassVar[Card] = Card(
        "Vaswani et al. 2017", "2 L D, + D (d_conv - 1) with a convolution", "#0072B2", "o", ("softmax",)
    )
    name: Literal["attention"] = "attention"
    n_heads: PositiveInt = Field(1, description="H, heads of width D/H")
    bias: bool = Field(True, description="biases on the four projections")
    dropout: float = Field(0.0, ge=0, lt=1, description="on the attention weights")
    positions: Literal["none", "rope", "alibi", "hard_alibi", "t5"] = Field(
        "none", description="what acts on the scores"
    )
    conv: Literal["none", "q", "k", "v", "qk", "qv", "kv", "qkv"] = Field(
        "none", description="branches with a causal depthwise convolution"
    )
    conv_at: Literal["before", "after", "input"] = Field(
        "before", description="per branch before its projection, after it, or once on the shared input"
    )
    d_conv: PositiveInt = Field(4, description="taps of that convolution")
    qk_norm: Annotated[bool, LATER] = Field(False, description="RMSNorm on q and k, each head's")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // self.n_heads, "head width")
        if self.positions == "hard_alibi" and self.n_heads < 2:
            raise ValueError(f"model.mixer.positions: hard_alibi needs n_heads >= 2 (got {self.n_heads})")
        return self

    def by_prefix(self) -> bool:
        """Dropout is drawn for a whole batch."""
        return self.dropout == 0

    def uses(self) -> tuple[str, ...]:
        convs, norms = () if self.conv == "none" else ("causal_conv",), ("rms_norm",) if self.qk_norm else ()
        return (*self.card.ops, *convs, *norms)


class SlidingAttentionOptions(HeadedOptions):
    """Softmax attention over the last few tokens only."""

    card: ClassVar[Card] = Card(
        "Beltagy et al. 2020", "2 (W - 1) D", "#7570B3", "p", ("window_attention", "window_rows")
    )
    name: Literal["sliding_attention"] = "sliding_attention"
    bias: bool = Field(True, description="biases on the four projections")
    window: PositiveInt = Field(8, description="W, tokens seen, the current one included")
