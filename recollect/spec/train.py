"""How it is trained: optimiser, schedule, evaluation, stops."""

import math
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from recollect.spec.base import LATER, Frozen

Role = Literal["dynamics", "embedding", "norms", "hidden", "other"]
"""What a parameter is: `hidden` are projections inside of blocks, `other` matrices convolutions and an untied head."""
ROLES: tuple[Role, ...] = ("dynamics", "embedding", "norms")
"""The groups that may be trained at a rate and with a decay of their own."""


def _factor(whose: str) -> Any:
    return Field(1.0, gt=0, description=f"a factor on the rate {whose}")


def _fixed(role: Role) -> Any:
    words = f"the peak rate of {role} itself, whatever lr is; the schedule stays"
    return Field(None, gt=0, description=words)


def _decay(role: Role) -> Any:
    return Field(None, ge=0, description=f"weight decay of {role}, or as decay_scope says")


class TrainSpec(Frozen):
    """Optimiser, schedule, evaluation and the three stops."""

    lr: float = Field(1e-3, gt=0, description="peak learning rate")
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
    clip: float | None = Field(1.0, gt=0, allow_inf_nan=True, description="largest gradient norm, or none")
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

    @field_validator("clip")
    @classmethod
    def finite_or_none(cls, clip: float | None) -> float | None:
        """Tell those who write that nothing is to be clipped as a bound without end how to say it."""
        if clip == math.inf:
            raise ValueError("a finite number above 0, or null, which clips nothing")
        return clip

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
