"""The complete description of one run."""

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from recollect.ops.forms import CPU_ONLY, LIBRARIES, OPS, form_of
from recollect.spec.base import Frozen, canonical, checked, digest
from recollect.spec.compute import ComputeSpec, kind_of_device
from recollect.spec.mixers import WholeOptions
from recollect.spec.model import ModelSpec
from recollect.spec.tasks import TaskSpec
from recollect.spec.train import TrainSpec

NUMERICS = 1
"""Raised when the same spec would give other results: other data, initialisation, optimiser or model; not when a kernel
only rounds otherwise (docs/decisions/0006-identity.md)."""


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
        return checked(RunSpec, dict(self) | {"train": dict(self.train) | {"lr": lr}, "seed": seed}, "spec")

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
