"""The complete description of one run."""

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError, field_validator, model_validator

from recollect.errors import nearest, sentence
from recollect.ops.forms import CPU_ONLY, KERNELS, LIBRARIES, OPS, Kernel, form_of
from recollect.spec.base import LATER, As, Frozen, canonical, digest
from recollect.spec.mixers import MixerOptions, MixerSpec, WholeOptions
from recollect.spec.tasks import TaskSpec

Block = Literal["mixer+mlp", "mixer", "mamba"]

NUMERICS = 1
"""Raised when the same spec would give other results: other data, initialisation, optimiser or model; not when a kernel
only rounds otherwise (docs/decisions/0006-identity.md)."""


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
        1.0, gt=0, allow_inf_nan=False, description="of sinusoidal positions; embeddings are drawn with 0.02"
    )
    embedding_std: Annotated[float, LATER] = Field(0.02, gt=0, allow_inf_nan=False, description="of the embedding")
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


Role = Literal["dynamics", "embedding", "norms", "hidden", "other"]
"""What a parameter is: `hidden` are projections inside of blocks, `other` matrices convolutions and an untied head."""
ROLES: tuple[Role, ...] = ("dynamics", "embedding", "norms")
"""The groups that may be trained at a rate and with a decay of their own."""


def _factor(whose: str) -> Any:
    return Field(1.0, gt=0, allow_inf_nan=False, description=f"a factor on the rate {whose}")


def _fixed(role: Role) -> Any:
    words = f"the peak rate of {role} itself, whatever lr is; the schedule stays"
    return Field(None, gt=0, allow_inf_nan=False, description=words)


def _decay(role: Role) -> Any:
    return Field(None, ge=0, allow_inf_nan=False, description=f"weight decay of {role}, or as decay_scope says")


class TrainSpec(Frozen):
    """Optimiser, schedule, evaluation and the three stops."""

    lr: float = Field(1e-3, gt=0, allow_inf_nan=False, description="peak learning rate")
    steps: PositiveInt = Field(2000, le=10**9, description="the budget")
    batch_size: PositiveInt = Field(64, le=2**20, description="rows a step")
    warmup_steps: NonNegativeInt = Field(200, description="linear warm-up")
    schedule: Literal["cosine", "linear", "constant"] = Field("cosine", description="what follows it, down to 0")
    lr_hold: PositiveInt = Field(1, description="steps for which the rate is held (an epoch in Zoology)")
    weight_decay: float = Field(0.1, ge=0, description="AdamW's")
    decay_scope: Literal["all", "matrices"] = Field(
        "all", description="every parameter, or only the weights of projections and convolutions"
    )
    beta1: float = Field(0.9, ge=0, lt=1)
    beta2: float = Field(0.999, ge=0, lt=1)
    eps: float = Field(1e-8, gt=0)
    clip: float | None = Field(1.0, gt=0, description="largest gradient norm, or none")
    eval_every: PositiveInt = Field(250, description="steps between evaluations")
    stop_accuracy: float | None = Field(0.99, gt=0, le=1, description="stop when above it, or never")
    stop_split: Literal["validation", "test"] = Field(
        "validation", description="the rows that decide that stop (Zoology had only one held-out set)"
    )
    stop_worse: PositiveInt | None = Field(
        5, description="stop after so many evaluations above the first loss, and on a non-finite loss; or never"
    )
    optimiser: Annotated[Literal["adamw", "muon", "lion"], LATER] = Field(
        "adamw", description="Muon has the projections inside of blocks, AdamW the rest; Lion takes beta1 and beta2 too"
    )
    momentum: Annotated[float, LATER] = Field(0.95, ge=0, lt=1, description="Muon's")
    lr_dynamics: Annotated[float, LATER] = _factor("of what sets decays and steps")
    lr_embedding: Annotated[float, LATER] = _factor("of the embedding and learned positions")
    lr_norms: Annotated[float, LATER] = _factor("of norms, biases and whatever else is no matrix")
    fixed_lr_dynamics: Annotated[float | None, LATER] = _fixed("dynamics")
    fixed_lr_embedding: Annotated[float | None, LATER] = _fixed("embedding")
    fixed_lr_norms: Annotated[float | None, LATER] = _fixed("norms")
    decay_dynamics: Annotated[float | None, LATER] = _decay("dynamics")
    decay_embedding: Annotated[float | None, LATER] = _decay("embedding")
    decay_norms: Annotated[float | None, LATER] = _decay("norms")

    @model_validator(mode="after")
    def one_rate_per_group(self) -> "TrainSpec":
        """Refuse two rates for one group."""
        for role in ROLES:
            if getattr(self, f"lr_{role}") != 1 and getattr(self, f"fixed_lr_{role}") is not None:
                raise ValueError(f"lr_{role} is a factor, fixed_lr_{role} the rate itself; give one of them")
        return self

    @model_validator(mode="after")
    def momentum_of_muon(self) -> "TrainSpec":
        """Refuse a momentum of what is not there."""
        if self.momentum != 0.95 and self.optimiser != "muon":
            raise ValueError(f"momentum is Muon's (got optimiser {self.optimiser})")
        return self

    @property
    def groups(self) -> tuple[Role, ...]:
        """The groups that have a rate or a decay of their own, be it the one that they would have anyway."""
        kinds = ("lr", "fixed_lr", "decay")
        return tuple(r for r in ROLES if [getattr(self, f"{kind}_{r}") for kind in kinds] != [1.0, None, None])

    @property
    def is_by_role(self) -> bool:
        """Whether what a parameter is decides how it is trained: a model may lack what is asked for."""
        return bool(self.groups) or self.optimiser == "muon"

    def group(self, role: Role) -> tuple[float, float | None]:
        """The factor on the rate of a group, and its weight decay where it has its own."""
        if role not in ROLES:
            return 1.0, None
        fixed = getattr(self, f"fixed_lr_{role}")
        return getattr(self, f"lr_{role}") if fixed is None else fixed / self.lr, getattr(self, f"decay_{role}")


def kind_of_device(device: str) -> str:
    """`cuda:1` is a cuda: which of several alike trains a run is no part of what the run is."""
    return device.partition(":")[0]


class ComputeSpec(Frozen):
    """What computes it: all of this can change the last bits."""

    device: Annotated[str, As(kind_of_device)] = Field("cpu", pattern=r"^(cpu|cuda(:\d+)?|mps)$")
    precision: Literal["fp32", "tf32", "bf16"] = Field(
        "fp32", description="tf32: matrix products of a CUDA device; bf16 is autocast; weights stay fp32"
    )
    threads: PositiveInt = Field(1, le=1024)
    kernel: Kernel = Field(
        "numba",
        description="the ops' form: numba (CPU), torch (any device), loop (the judge), fla or mamba_ssm (theirs, CUDA)",
    )
    compile: Annotated[bool, LATER] = Field(False, description="torch.compile makes the model's kernels (kernel=torch)")
    deterministic: Annotated[bool, LATER] = Field(
        False, description="on a GPU, only algorithms that repeat to the last bit; a CPU's one thread always does"
    )

    @field_validator("kernel")
    @classmethod
    def is_known(cls, kernel: Kernel) -> Kernel:
        """Refuse a kernel of which no op has a form."""
        if kernel not in KERNELS:
            raise ValueError(f"unknown name '{kernel}'{nearest(kernel, KERNELS)}")
        return kernel


class RunSpec(Frozen):
    """Everything that can change a result."""

    task: TaskSpec
    model: ModelSpec
    train: TrainSpec = TrainSpec()
    compute: ComputeSpec = ComputeSpec()
    seed: NonNegativeInt = Field(42, lt=2**63)
    numerics: PositiveInt = Field(NUMERICS, le=NUMERICS)

    @model_validator(mode="after")
    def resolve(self) -> "RunSpec":
        """Fill in the sizes of mixers that follow from the model; refuse what does not fit."""
        if self.task.only_judged:
            raise ValueError(f"task: {self.task.name} is for evaluation only; {self.task.only_judged}")
        model, length = self.model, self.task.length
        filled = tuple(mixer.resolved(model.d_model, length) for mixer in model.mixers)
        mixer = filled if isinstance(model.mixer, tuple) else filled[0]
        if mixer != model.mixer:
            object.__setattr__(self, "model", model.model_copy(update={"mixer": mixer}))
        return self

    @model_validator(mode="after")
    def computable(self) -> "RunSpec":
        """Refuse a kernel that has not the model's ops, or not on this device, or not in this way."""
        kernel, device = self.compute.kernel, self.compute.device
        for op in self.ops:
            if kernel not in OPS[op]:
                raise ValueError(f"compute.kernel: {kernel} has no form of {op}; allowed: {', '.join(OPS[op])}")
        for mixer in self.model.mixers if kernel in LIBRARIES else ():
            if all(OPS[op][kernel] != kernel for op in mixer.uses()):
                raise ValueError(f"compute.kernel: {kernel} has no op of {mixer.name}; use torch")
        if device != "cpu" and kernel in CPU_ONLY:
            raise ValueError(f"compute.kernel: {kernel} runs on the CPU only (device {device}); use torch")
        if kind_of_device(device) != "cuda" and kernel in LIBRARIES:
            raise ValueError(f"compute.kernel: {kernel} runs on a CUDA device only (device {device}); use torch")
        if device == "cpu" and self.compute.precision == "tf32":
            raise ValueError("compute.precision: tf32 is a CUDA device's (device cpu); use fp32")
        if self.compute.compile and kernel in {*CPU_ONLY, *LIBRARIES}:
            raise ValueError(f"compute.compile: cannot see into kernels of {kernel}; use compute.kernel=torch")
        if self.compute.deterministic and kernel in LIBRARIES:
            raise ValueError(f"compute.deterministic: {kernel} does not promise it; use compute.kernel=torch")
        return self

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that its model and its loss are made of, each once."""
        if isinstance(self.model.mixer, WholeOptions):
            return ("answer_loss",)
        own = [op for mixer in self.model.mixers for op in mixer.uses()]
        norms = ["rms_norm"] if "mamba" in self.model.blocks else []
        mlps = ["bias_gelu"] if "mixer+mlp" in self.model.blocks and self.model.mlp == "gelu" else []
        return tuple(dict.fromkeys([*own, *norms, *mlps, "answer_loss"]))

    def forms(self) -> dict[str, str]:
        """Op -> the function that its kernel runs."""
        return {op: form_of(op, self.compute.kernel) for op in self.ops}

    def at(self, lr: float, seed: int) -> "RunSpec":
        """The run of the same cell with this learning rate and seed, or one sentence."""
        try:
            return RunSpec.model_validate(dict(self) | {"train": dict(self.train) | {"lr": lr}, "seed": seed})
        except ValidationError as error:
            raise sentence(error, "spec") from None

    @property
    def id(self) -> str:
        """The run's name: the hash of its identity."""
        return digest(self.identity())

    @property
    def cell(self) -> str:
        """The cell's name: runs that differ only in learning rate and seed share it."""
        plain = self.identity()
        del plain["train"]["lr"], plain["seed"]
        return digest(plain)

    def to_json(self) -> str:
        """Canonical JSON; `RunSpec.model_validate_json` reads it back."""
        return canonical(self.model_dump(mode="json"))
