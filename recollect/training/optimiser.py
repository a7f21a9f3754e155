"""The optimiser of a spec: which parameters are trained at which rate and with which decay."""

import torch
from torch import Tensor, nn

from recollect.errors import BadInput
from recollect.mixers import Mixer
from recollect.mixers.parts import ShortConv
from recollect.spec import RunSpec, TrainSpec
from recollect.spec.run import ROLES, Role
from recollect.training.model import Model, build_model

Setting = tuple[float, float]
"""A factor on the rate, and the weight decay."""


def build_optimiser(model: Model, train: TrainSpec) -> torch.optim.AdamW:
    """AdamW; parameters with the same rate and decay are one group, the most decayed first."""
    groups = grouped(model, train)
    return torch.optim.AdamW(
        [
            {"params": groups[setting], "factor": setting[0], "weight_decay": setting[1]}
            for setting in sorted(groups, key=lambda setting: (-setting[1], setting[0]))
        ],
        lr=train.lr,
        betas=(train.beta1, train.beta2),
        eps=train.eps,
        fused=True,
    )


def grouped(model: Model, train: TrainSpec) -> dict[Setting, list[Tensor]]:
    """Every parameter once, by how it is trained."""
    found = roles(model)
    decayed = set(model.parameters()) if train.decay_scope == "all" else set(matrices(model))
    groups: dict[Setting, list[Tensor]] = {}
    for p, role in found.items():
        factor, own = train.group(role)
        decay = own if own is not None else train.weight_decay if p in decayed else 0.0
        if role == "hidden":
            factor, decay = factor / model.spec.widening, decay * model.spec.widening
        groups.setdefault((factor, decay), []).append(p)
    return groups


def check_groups(spec: RunSpec) -> None:
    """Refuse a rate or decay of a group that the model lacks."""
    with torch.device("meta"):
        there = set(roles(build_model(spec)).values())
    for role in ROLES:
        if spec.train.group(role) != (1.0, None) and role not in there:
            raise BadInput(
                f"train: {spec.model.mixer_name} has no {role}; leave out lr_{role}, fixed_lr_{role} and decay_{role}"
            )


def roles(model: Model) -> dict[Tensor, Role]:
    """What every parameter is: part of the dynamics where its mixer says so, else by the module that holds it."""
    found: dict[Tensor, Role] = dict.fromkeys(model.parameters(), "norms")
    found |= dict.fromkeys(matrices(model), "other")
    found |= dict.fromkeys(projections(model.blocks), "hidden")
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            found[module.weight] = "embedding"
        elif isinstance(module, Mixer):
            found |= {p: "dynamics" for name, p in module.named_parameters() if module.sets_dynamics(name)}
    found |= {p: "embedding" for name, p in model.named_parameters(recurse=False) if name == "position"}
    return found


def matrices(model: nn.Module) -> list[Tensor]:
    """The weights of projections and convolutions: no bias, norm, embedding, or dynamics that are no projection."""
    convolutions = [module.weight for module in model.modules() if isinstance(module, nn.Conv1d | ShortConv)]
    return [*projections(model), *convolutions]


def projections(model: nn.Module) -> list[Tensor]:
    """The weights of all Linears, and those of an RNN of torch's."""
    found: list[Tensor] = []
    for module in model.modules():
        if isinstance(module, nn.Linear):
            found.append(module.weight)
        elif isinstance(module, nn.RNNBase):
            found += [p for name, p in module.named_parameters() if name.startswith("weight")]
    return found
