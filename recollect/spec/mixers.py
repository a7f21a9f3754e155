"""The options of every mixer: its name, its sizes, its ablations.

A size that follows from the model (`None` here) is filled in by `resolved`, so that a finished spec hides nothing.
"""

import math
import sys
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Discriminator, Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.base import ASIDE, Frozen
from recollect.spec.registry import Registry, named, one_of

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


class AttentionOptions(MixerOptions):
    """Softmax attention, with positions on the scores and short convolutions on any of Q, K, V."""

    paper: ClassVar[str] = "Vaswani et al. 2017"
    state: ClassVar[str] = "2 L D"
    colour: ClassVar[str] = "#0072B2"
    marker: ClassVar[str] = "o"
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

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        if self.positions == "rope" and (d_model // self.n_heads) % 2:
            raise ValueError(f"model.mixer.positions: rope needs an even head width (got {d_model // self.n_heads})")
        if self.positions == "hard_alibi" and self.n_heads < 2:
            raise ValueError(f"model.mixer.positions: hard_alibi needs n_heads >= 2 (got {self.n_heads})")
        return self


class SlidingAttentionOptions(MixerOptions):
    """Softmax attention over the last few tokens only."""

    paper: ClassVar[str] = "Beltagy et al. 2020"
    state: ClassVar[str] = "2 (W - 1) D"
    colour: ClassVar[str] = "#7570B3"
    marker: ClassVar[str] = "p"
    name: Literal["sliding_attention"] = "sliding_attention"
    n_heads: PositiveInt = Field(1, description="H, heads of width D/H")
    bias: bool = Field(True, description="biases on the four projections")
    window: PositiveInt = Field(8, description="W, tokens seen, the current one included")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // self.n_heads, "head width")
        return self


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


class H3Options(MixerOptions):
    """A shift SSM on the keys, a diagonal SSM on the outer products of keys and values, gated by the queries."""

    paper: ClassVar[str] = "Fu et al. 2023"
    state: ClassVar[str] = "(N - 1) D (shift) + N D P (diagonal)"
    colour: ClassVar[str] = "#AA3355"
    marker: ClassVar[str] = "X"
    name: Literal["h3"] = "h3"
    d_state: int | None = Field(None, ge=2, description="N, even (the length, up to 64)")
    head_dim: PositiveInt = Field(2, description="P, head width")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        divides(self.head_dim, d_model, "model.mixer.head_dim")
        pairs_up(self.positions, self.head_dim, "head_dim")
        d_state = self.d_state or max(2, min(64, length - length % 2))
        if d_state % 2:
            raise ValueError(f"model.mixer.d_state must be even (got {d_state})")
        return self.model_copy(update={"d_state": d_state})


class HyenaOptions(MixerOptions):
    """Order 2: a long convolution with an implicit filter between two gates."""

    paper: ClassVar[str] = "Poli et al. 2023"
    state: ClassVar[str] = "L D + 3 D (d_conv - 1)"
    colour: ClassVar[str] = "#009E73"
    marker: ClassVar[str] = "^"
    name: Literal["hyena"] = "hyena"
    d_filter: PositiveInt = Field(64, description="width of the filter's MLP")
    d_conv: PositiveInt = Field(3, description="taps of the short convolution")
    positions: Rotation = Field("none", description="rotary positions on the input")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, d_model, "d_model")
        return self


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


class MambaOptions(MixerOptions):
    """S6: a diagonal state-space model whose step, input and output follow the token."""

    paper: ClassVar[str] = "Gu & Dao 2024"
    state: ClassVar[str] = "E D N + E D (d_conv - 1)"
    colour: ClassVar[str] = "#D55E00"
    marker: ClassVar[str] = "s"
    name: Literal["mamba"] = "mamba"
    d_state: PositiveInt = Field(16, description="N, state per channel")
    d_conv: NonNegativeInt = Field(4, description="taps of the short convolution (0 = none; the SiLU stays)")
    expand: PositiveInt = Field(2, description="E, inner width over model width")
    dt_rank: PositiveInt | None = Field(None, description="rank of the step's projection (ceil(D / 16))")
    gate: bool = Field(True, description="the output gate silu(z)")
    positions: Rotation = Field("none", description="rotary positions on B and C")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, self.d_state, "d_state")
        return self.model_copy(update={"dt_rank": self.dt_rank or math.ceil(d_model / 16)})


class Mamba2Options(MixerOptions):
    """SSD: one decay per head, computed in chunks of matrix products."""

    paper: ClassVar[str] = "Dao & Gu 2024"
    state: ClassVar[str] = "E D N + (E D + 2 G N)(d_conv - 1)"
    colour: ClassVar[str] = "#E69F00"
    marker: ClassVar[str] = "D"
    name: Literal["mamba2"] = "mamba2"
    d_state: PositiveInt = Field(64, description="N, state per channel")
    d_conv: NonNegativeInt = Field(4, description="taps of the short convolution (0 = none; the SiLU stays)")
    expand: PositiveInt = Field(2, description="E, inner width over model width")
    head_dim: PositiveInt | None = Field(None, description="P (the largest divisor of E D up to 64)")
    n_groups: PositiveInt = Field(1, description="G, groups of heads that share B and C")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    positions: Rotation = Field("none", description="rotary positions on B and C")

    def resolved(self, d_model: int, length: int) -> Self:
        inner = self.expand * d_model
        head_dim = self.head_dim or largest_divisor(inner, 64)
        divides(head_dim, inner, "model.mixer.head_dim")
        divides(self.n_groups, inner // head_dim, "model.mixer.n_groups")
        pairs_up(self.positions, self.d_state, "d_state")
        return self.model_copy(update={"head_dim": head_dim})


class DeltaNetOptions(MixerOptions):
    """A matrix state that is corrected towards each new value (the delta rule)."""

    paper: ClassVar[str] = "Yang et al. 2024"
    state: ClassVar[str] = "D²/H + 3 D (d_conv - 1)"
    colour: ClassVar[str] = "#CC79A7"
    marker: ClassVar[str] = "v"
    name: Literal["deltanet"] = "deltanet"
    n_heads: PositiveInt | None = Field(None, description="H (1 up to D = 128, then heads of 128)")
    d_conv: NonNegativeInt = Field(4, description="taps of the convolutions on q, k, v (0 = none)")
    gate: bool = Field(False, description="an output gate silu(x W_g)")
    negative_eigenvalues: bool = Field(False, description="beta in (0, 2) instead of (0, 1)")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        n_heads = self.n_heads or max(1, math.ceil(d_model / largest_divisor(d_model, 128)))
        divides(n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // n_heads, "head width")
        return self.model_copy(update={"n_heads": n_heads})


class GatedDeltaNetOptions(MixerOptions):
    """DeltaNet whose state also decays, with a gated output."""

    paper: ClassVar[str] = "Yang et al. 2025"
    state: ClassVar[str] = "D²/H · expand_v + (2 + expand_v) D (d_conv - 1)"
    colour: ClassVar[str] = "#AA4499"
    marker: ClassVar[str] = ">"
    name: Literal["gated_deltanet"] = "gated_deltanet"
    n_heads: PositiveInt | None = Field(None, description="H (1 up to D = 128, then heads of 128)")
    expand_v: PositiveInt = Field(1, description="value width over key width")
    d_conv: NonNegativeInt = Field(4, description="taps of the convolutions on q, k, v (0 = none)")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    positions: Rotation = Field("none", description="rotary positions on q and k")

    def resolved(self, d_model: int, length: int) -> Self:
        n_heads = self.n_heads or max(1, math.ceil(d_model / largest_divisor(d_model, 128)))
        divides(n_heads, d_model, "model.mixer.n_heads")
        pairs_up(self.positions, d_model // n_heads, "head width")
        return self.model_copy(update={"n_heads": n_heads})


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


class ForeignOptions(MixerOptions):
    """A class of the user's: `name` is `file.py:Class` or `package.module:Class`; further fields are its arguments.

    `source` pins what was run: the file's sha256, or the package's version. `path` only says where it lies.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    state: ClassVar[str] = "unknown"
    name: str = Field(pattern=r"^[^:]+:[A-Za-z_]\w*$")
    path: Annotated[str, ASIDE] = ""
    source: str

    def arguments(self) -> dict[str, Any]:
        """The constructor's own arguments."""
        return dict(self.model_extra or {})


def _tag(value: Any) -> str:
    name = value.get("name", "") if isinstance(value, dict) else getattr(value, "name", "")
    return "foreign" if ":" in str(name) else str(name)


MIXERS: Registry[str, type[MixerOptions]] = Registry("mixer", named(MixerOptions, sys.modules[__name__]))
if TYPE_CHECKING:
    MixerSpec = MixerOptions
else:
    MixerSpec = Annotated[one_of([*MIXERS.items(), ("foreign", ForeignOptions)]), Discriminator(_tag)]
