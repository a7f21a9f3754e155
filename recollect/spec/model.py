"""What is trained: the stack around a mixer."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from recollect.spec.base import LATER, Frozen
from recollect.spec.mixers import MixerOptions, MixerSpec, WholeOptions

Block = Literal["mixer+mlp", "mixer", "mamba"]

OF_WHOLE = ("d_model", "n_layers", "mixer", "noncausal")
"""The fields that a whole model is asked for, or told."""


class ModelSpec(Frozen):
    """The stack: embedding, blocks, norm, head."""

    d_model: PositiveInt = Field(64, le=2**17, description="D, width of the residual stream")
    n_layers: PositiveInt = Field(2, le=4096, description="blocks")
    mixer: MixerSpec | tuple[MixerSpec, ...] = Field(description="one for all layers, or a list with one per layer")
    block: Block | tuple[Block, ...] = Field(
        "mixer+mlp", description="mixer and MLP, the mixer alone, or Mamba's own (RMSNorm, no MLP); may be a list"
    )
    mlp: Literal["gelu", "rwkv4"] = Field("gelu", description="the MLP's kind: GELU, or RWKV-4's channel mix")
    mlp_expansion: PositiveInt = Field(4, le=64, description="hidden width of the MLP over D")
    positions: Literal["none", "sinusoidal", "learned"] = Field("none", description="added to the embedding")
    dropout: float = Field(0.0, ge=0, lt=1, description="on the embedding")
    tied_head: bool = Field(True, description="the head reuses the embedding")
    init: Literal["native", "gpt2", "zoology-legacy"] = Field(
        "native", description="each part's own; all Linears N(0, 0.02) with scaled outputs; Zoology's before 2025"
    )
    position_amplitude: Annotated[float, LATER] = Field(
        1.0, gt=0, description="of sinusoidal positions; embeddings are drawn with 0.02"
    )
    embedding_std: Annotated[float, LATER] = Field(0.02, gt=0, description="of the embedding")
    mimetic_layers: Annotated[tuple[NonNegativeInt, ...], LATER] = Field(
        (), description="layers, from 0, that start near attention: no decay, W_B = W_C, the convolution a delta"
    )
    base_width: Annotated[PositiveInt | None, LATER] = Field(
        None, description="µP: from this width on hidden matrices learn at lr d/D with decay D/d, logits shrink by d/D"
    )
    noncausal: Annotated[bool, LATER] = Field(False, description="a user's mixer may look ahead; every figure says so")

    @model_validator(mode="after")
    def amplitude_of_sinusoids(self) -> "ModelSpec":
        """Refuse an amplitude of what is not there."""
        if self.position_amplitude != 1 and self.positions != "sinusoidal":
            raise ValueError(f"position_amplitude is for sinusoidal positions (got positions {self.positions})")
        return self

    @field_validator("mimetic_layers")
    @classmethod
    def each_layer_once(cls, layers: tuple[int, ...]) -> tuple[int, ...]:
        """In order: the same layers are the same run."""
        if len(set(layers)) < len(layers):
            raise ValueError(f"name every layer once (got {layers})")
        return tuple(sorted(layers))

    @model_validator(mode="after")
    def mimetic_where_it_can_be(self) -> "ModelSpec":
        """Refuse layers that are not there or whose mixer has no such start."""
        for layer in self.mimetic_layers:
            if layer >= self.n_layers:
                raise ValueError(
                    f"mimetic_layers: there is no layer {layer} (n_layers {self.n_layers}, the first is 0)"
                )
            if not self.mixers[layer].mimetic:
                raise ValueError(f"mimetic_layers: {self.mixers[layer].name} has no mimetic start")
        return self

    @model_validator(mode="after")
    def steps_start_as_said(self) -> "ModelSpec":
        """Refuse a start of the step that another start overwrites in every layer."""
        chosen = {layer: mixer for layer, mixer in enumerate(self.mixers) if mixer.steps_otherwise}
        if chosen and set(chosen) <= set(self.mimetic_layers):
            raise ValueError("a mimetic layer has its own step; leave out dt_start, dt_min and dt_max")
        if self.init != "native" and any(mixer.step_is_linear for mixer in chosen.values()):
            raise ValueError(f"init {self.init} sets Mamba's step; leave out dt_start, dt_min and dt_max")
        return self

    @model_validator(mode="after")
    def native_under_mup(self) -> "ModelSpec":
        """µP counts on deviations that shrink with the root of the width, as torch's own do."""
        if self.base_width is not None and self.init != "native":
            raise ValueError(f"base_width needs init native (got {self.init})")
        return self

    @model_validator(mode="after")
    def whole_alone(self) -> "ModelSpec":
        """A whole model has nothing of the backbone's: refuse what would name a difference that there is not."""
        if any(isinstance(mixer, WholeOptions) for mixer in self.mixers):
            if isinstance(self.mixer, tuple):
                raise ValueError("a whole model stands alone; only mixers can be joined")
            for name, field in type(self).model_fields.items():
                if name not in OF_WHOLE and getattr(self, name) != field.default:
                    raise ValueError(f"{name} is the backbone's, and {self.mixer.name} is a whole model")
        return self

    @model_validator(mode="after")
    def one_per_layer(self) -> "ModelSpec":
        """A list must name every layer."""
        for what, value in (("mixer", self.mixer), ("block", self.block)):
            if isinstance(value, tuple) and len(value) != self.n_layers:
                raise ValueError(
                    f"{what}: a list needs one entry per layer (n_layers {self.n_layers}, got {len(value)})"
                )
        return self

    @property
    def mixers(self) -> tuple[MixerOptions, ...]:
        """The mixer of every layer."""
        return self.mixer if isinstance(self.mixer, tuple) else (self.mixer,) * self.n_layers

    @property
    def mixer_name(self) -> str:
        """The mixers, each once: `attention`, or `attention+mamba` for a hybrid."""
        return "+".join(dict.fromkeys(mixer.name for mixer in self.mixers))

    @property
    def by_prefix(self) -> bool:
        """Whether an answer follows from its own row up to it, so that no more of the row need be computed."""
        return self.dropout == 0 and all(mixer.by_prefix() for mixer in self.mixers)

    @property
    def widening(self) -> float:
        """How much wider it is than the width from which µP scales; 1 without µP."""
        return self.d_model / (self.base_width or self.d_model)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The block kind of every layer."""
        return self.block if isinstance(self.block, tuple) else (self.block,) * self.n_layers
