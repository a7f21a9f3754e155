"""Options of state-space models and long convolutions."""

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, NonNegativeInt, PositiveInt
from typing_extensions import Self

from recollect.spec.base import LATER
from recollect.spec.mixers.options import (
    Card,
    MixerOptions,
    Rotation,
    SteppedOptions,
    TurnedOptions,
    conv,
    divides,
    largest_divisor,
    pairs_up,
)

Decay = Literal["exp", "bounded"]


def _decay() -> Any:
    return Field("exp", description="A = -exp(A_log), or bounded: -(1 + x) for x >= 0, -1/(1 - x) below, <= -1e-4")


class H3Options(MixerOptions):
    """A shift SSM on the keys, a diagonal SSM on the outer products of keys and values, gated by the queries."""

    card: ClassVar[Card] = Card(
        "Fu et al. 2023", "(N - 1) D (shift) + N D P (diagonal)", "#AA3355", "X", ("long_conv", "modes_kernel")
    )
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


class HyenaOptions(TurnedOptions):
    """Order 2: a long convolution with an implicit filter between two gates."""

    card: ClassVar[Card] = Card(
        "Poli et al. 2023", "L D + 3 D (d_conv - 1)", "#009E73", "^", ("causal_conv", "long_conv")
    )
    name: Literal["hyena"] = "hyena"
    d_filter: PositiveInt = Field(64, description="width of the filter's MLP")
    d_conv: PositiveInt = Field(3, description="taps of the short convolution")


class MambaOptions(SteppedOptions):
    """S6: a diagonal state-space model whose step, input and output follow the token."""

    card: ClassVar[Card] = Card(
        "Gu & Dao 2024", "E D N + E D (d_conv - 1)", "#D55E00", "s", ("softplus_linear", "selective_scan")
    )
    mimetic: ClassVar[bool] = True
    step_is_linear: ClassVar[bool] = True
    name: Literal["mamba"] = "mamba"
    d_state: PositiveInt = Field(16, description="N, state per channel")
    d_conv: NonNegativeInt = Field(4, description="taps of the short convolution (0 = none; the SiLU stays)")
    expand: PositiveInt = Field(2, description="E, inner width over model width")
    dt_rank: PositiveInt | None = Field(None, description="rank of the step's projection (ceil(D / 16))")
    gate: bool = Field(True, description="the output gate silu(z)")
    positions: Rotation = Field("none", description="rotary positions on B and C")
    decay: Annotated[Decay, LATER] = _decay()
    norms: Annotated[Literal["none", "bc", "bcdt"], LATER] = Field("none", description="RMSNorm on B and C, and on δ")

    def resolved(self, d_model: int, length: int) -> Self:
        pairs_up(self.positions, self.d_state, "d_state")
        return self.model_copy(update={"dt_rank": self.dt_rank or math.ceil(d_model / 16)})

    def uses(self) -> tuple[str, ...]:
        gate, norms = ("gate",) if self.gate else (), () if self.norms == "none" else ("rms_norm",)
        return (*conv(self.d_conv), *self.card.ops, *gate, *norms)


class Mamba2Options(SteppedOptions):
    """SSD: one decay per head, computed in chunks of matrix products."""

    card: ClassVar[Card] = Card(
        "Dao & Gu 2024", "E D N + (E D + 2 G N)(d_conv - 1)", "#E69F00", "D", ("ssd", "gate", "rms_norm")
    )
    mimetic: ClassVar[bool] = True
    name: Literal["mamba2"] = "mamba2"
    d_state: PositiveInt = Field(64, description="N, state per channel")
    d_conv: NonNegativeInt = Field(4, description="taps of the short convolution (0 = none; the SiLU stays)")
    expand: PositiveInt = Field(2, description="E, inner width over model width")
    head_dim: PositiveInt | None = Field(None, description="P (the largest divisor of E D up to 64)")
    n_groups: PositiveInt = Field(1, description="G, groups of heads that share B and C")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    positions: Rotation = Field("none", description="rotary positions on B and C")
    decay: Annotated[Decay, LATER] = _decay()

    def resolved(self, d_model: int, length: int) -> Self:
        inner = self.expand * d_model
        head_dim = self.head_dim or largest_divisor(inner, 64)
        divides(head_dim, inner, "model.mixer.head_dim")
        divides(self.n_groups, inner // head_dim, "model.mixer.n_groups")
        pairs_up(self.positions, self.d_state, "d_state")
        return self.model_copy(update={"head_dim": head_dim})

    def uses(self) -> tuple[str, ...]:
        return (*conv(self.d_conv), *self.card.ops)


class Mamba3Options(SteppedOptions):
    """SSD with a trapezoidal step, B and C normalised and turned by angles that the token sets, no convolution."""

    card: ClassVar[Card] = Card(
        "Lahoti et al. 2026",
        "E D N + E D + H (N + M), M = rotation N/2 angles",
        "#FF7F00",
        "$3$",
        ("turned_norm", "trapezoid", "gate"),
    )
    name: Literal["mamba3"] = "mamba3"
    d_state: int = Field(64, ge=2, description="N, state per channel, even")
    expand: PositiveInt = Field(2, description="E, inner width over model width")
    head_dim: PositiveInt | None = Field(None, description="P (the largest divisor of E D up to 64)")
    trapezoid: bool = Field(True, description="lambda follows the token (false: it is 1, an Euler step)")
    rotation: float = Field(0.5, ge=0, le=1, description="share of B and C that is turned (0 = none)")
    chunk: PositiveInt = Field(64, description="tokens a chunk")
    decay: Annotated[Literal["softplus", "bounded"], LATER] = Field(
        "softplus", description="A = -softplus(α), or bounded: -(1 + α) for α >= 0, -1/(1 - α) below"
    )

    def resolved(self, d_model: int, length: int) -> Self:
        if self.d_state % 2:
            raise ValueError(f"model.mixer.d_state must be even (got {self.d_state})")
        head_dim = self.head_dim or largest_divisor(self.expand * d_model, 64)
        divides(head_dim, self.expand * d_model, "model.mixer.head_dim")
        return self.model_copy(update={"head_dim": head_dim})
