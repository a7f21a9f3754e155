"""The optimiser of a spec: by which algorithm, at which rate and with which decay every parameter is trained."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from recollect.errors import BadInput
from recollect.mixers import Mixer
from recollect.mixers.foreign import Foreign
from recollect.mixers.parts import ShortConv
from recollect.spec import RunSpec, TrainSpec
from recollect.spec.train import Role
from recollect.training.learner import Learner
from recollect.training.lion import Lion
from recollect.training.model import Model, outline
from recollect.training.whole import Whole

Group = dict[str, Any]
"""Parameters and how they are trained, as torch's optimisers take them."""


class Setting(NamedTuple):
    """How a parameter is trained: with which factor on the rate, and which weight decay."""

    factor: float
    decay: float


def spare_compiler() -> None:
    """Keep torch's optimisers from loading its compiler, two seconds of every process, only to tell it to let them be.

    Torch does so at the first call of a method without this mark; where it looks for another one, it does as before.
    """
    own = torch.optim.Optimizer
    for method in (own.add_param_group, own.state_dict, own.load_state_dict):
        plain = inspect.unwrap(method)
        vars(plain).setdefault("__dynamo_disable", plain)


class AdamW(torch.optim.AdamW):
    """Torch's, with its step as it is written: what torch wraps around it loads the compiler too."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))


class Optimiser:
    """Optimisers of torch's that together train every parameter once.

    `cut` are fused matrices and the views of their rows that an optimiser has instead of them: each is a matrix to it.
    """

    def __init__(self, parts: Sequence[torch.optim.Optimizer], cut: Mapping[Tensor, Sequence[Tensor]]) -> None:
        self.parts, self.cut = parts, cut

    @property
    def param_groups(self) -> list[Group]:
        """Of all of them."""
        return [group for part in self.parts for group in part.param_groups]

    def step(self, rate: float) -> None:
        """One step at this learning rate, times each group's factor."""
        for whole, pieces in self.cut.items():
            grads = [None] * len(pieces) if whole.grad is None else whole.grad.split([len(piece) for piece in pieces])
            for piece, grad in zip(pieces, grads, strict=True):
                piece.grad = grad
        for group in self.param_groups:
            group["lr"] = group["factor"] * rate
        for part in self.parts:
            part.step()

    def state(self) -> dict[str, Tensor]:
        """What it remembers, by the number of the parameter and a name."""
        found: dict[str, Tensor] = {}
        for part, numbers in self._numbered():
            for index, state in part.state_dict()["state"].items():
                found |= {f"{numbers[index]}.{key}": value for key, value in state.items()}
        return found

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Remember what another one did."""
        kept: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            number, _, name = key.partition(".")
            kept.setdefault(int(number), {})[name] = value
        for part, numbers in self._numbered():
            own = {index: kept[number] for index, number in enumerate(numbers) if number in kept}
            part.load_state_dict(part.state_dict() | {"state": own})

    def _numbered(self) -> Iterator[tuple[torch.optim.Optimizer, range]]:
        """Each with the numbers of its parameters among those of all."""
        first = 0
        for part in self.parts:
            last = first + sum(len(group["params"]) for group in part.param_groups)
            yield part, range(first, last)
            first = last


def build_optimiser(model: Learner, train: TrainSpec) -> Optimiser:
    """That of a spec; Muon has the pieces of fused matrices."""
    spare_compiler()
    groups = grouped(model, train)
    cut = {whole: whole.detach().split(sizes) for whole, sizes in fused(model).items()} if MUON in groups else {}
    parts = [MAKERS[by](settled(groups[by], cut if by == MUON else {}), train) for by in sorted(groups)]
    return Optimiser(parts, cut)


def settled(groups: Mapping[Setting, Sequence[Tensor]], cut: Mapping[Tensor, Sequence[Tensor]]) -> list[Group]:
    """As torch takes them: parameters that are trained alike are one group, the most decayed first."""
    return [
        {
            "params": [piece for p in groups[how] for piece in cut.get(p, (p,))],
            "factor": how.factor,
            "weight_decay": how.decay,
        }
        for how in sorted(groups, key=lambda how: (-how.decay, how.factor))
    ]


def _adamw(groups: list[Group], train: TrainSpec) -> torch.optim.Optimizer:
    betas = (train.beta1, train.beta2)
    return AdamW(groups, lr=train.lr, betas=betas, eps=train.eps, fused=True)


def _muon(groups: list[Group], train: TrainSpec) -> torch.optim.Optimizer:
    """With the scale 0.2 √max(rows, columns), at which a step is as long as AdamW's."""
    return torch.optim.Muon(groups, lr=train.lr, momentum=train.momentum, adjust_lr_fn="match_rms_adamw")


def _lion(groups: list[Group], train: TrainSpec) -> torch.optim.Optimizer:
    return Lion(groups, train.lr, (train.beta1, train.beta2))


MUON = "muon"
MAKERS = {"adamw": _adamw, MUON: _muon, "lion": _lion}


def grouped(model: Learner, train: TrainSpec) -> dict[str, dict[Setting, list[Tensor]]]:
    """Every parameter once, by its optimiser and by how that trains it."""
    decayed = set(model.parameters()) if train.decay_scope == "all" else set(matrices(model))
    groups: dict[str, dict[Setting, list[Tensor]]] = {}
    for p, role in roles(model).items():
        factor, own = train.group(role)
        decay = own if own is not None else train.weight_decay if p in decayed else 0.0
        if role == "hidden" and isinstance(model, Model):
            factor, decay = factor / model.spec.widening, decay * model.spec.widening
        by = "adamw" if train.optimiser == MUON and role != "hidden" else train.optimiser
        groups.setdefault(by, {}).setdefault(Setting(factor, decay), []).append(p)
    return groups


GATES = ("weight_ih", "weight_hh")
"""How torch begins the names of matrices that have all gates of its LSTM or GRU one upon the other."""


def fused(model: Learner) -> dict[Tensor, list[int]]:
    """The projections that are several in one, and the rows of each: as mixers say, and torch's own modules."""
    found: dict[Tensor, list[int]] = {}
    for mixer in (module for module in model.modules() if isinstance(module, Mixer)):
        own = dict(mixer.named_parameters())
        found |= {own[name]: sizes for name, sizes in mixer.fused().items() if len(sizes) > 1}
    for module in model.modules():
        if isinstance(module, nn.MultiheadAttention) and module.in_proj_weight is not None:
            found[module.in_proj_weight] = [module.embed_dim] * 3
        elif isinstance(module, nn.LSTM | nn.GRU):
            gates = [(name, p) for name, p in module.named_parameters(recurse=False) if name[:9] in GATES]
            found |= {p: [module.hidden_size] * (len(p) // module.hidden_size) for _, p in gates}
    return found


def check_groups(spec: RunSpec) -> None:
    """Refuse a rate or decay of a group that the model lacks, and Muon or µP where there is nothing for it."""
    widened = spec.model.widening != 1
    if not (spec.train.is_by_role or widened):
        return
    there = set(roles(outline(spec)).values())
    for role in spec.train.groups:
        if role not in there:
            raise BadInput(
                f"train: {spec.model.mixer_name} has no {role}; leave out lr_{role}, fixed_lr_{role} and decay_{role}"
            )
    wanting = {"train.optimiser: muon": spec.train.optimiser == MUON, "model.base_width": widened}
    for what in (what for what, asked in wanting.items() if asked and "hidden" not in there):
        raise BadInput(f"{what} is for projections, and {spec.model.mixer_name} has none")


def roles(model: Learner) -> dict[Tensor, Role]:
    """What every parameter is: part of the dynamics where its mixer says so, else by the module that holds it."""
    found: dict[Tensor, Role] = dict.fromkeys(model.parameters(), "norms")
    for theirs in (module for module in model.modules() if isinstance(module, Foreign | Whole)):
        found |= {p: "other" for p in theirs.parameters() if p.dim() > 1}
    found |= dict.fromkeys(matrices(model), "other")
    found |= dict.fromkeys(projections(hidden(model)), "hidden")
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            found |= dict.fromkeys(module.parameters(), "embedding")
        elif isinstance(module, Mixer):
            found |= {p: "dynamics" for name, p in module.named_parameters() if module.sets_dynamics(name)}
    found |= {p: "embedding" for name, p in model.named_parameters(recurse=False) if name == "position"}
    return found


def hidden(model: Learner) -> nn.Module:
    """Where its hidden matrices are: in the blocks, or all over a user's model but for our head."""
    return model.blocks if isinstance(model, Model) else model.inner if isinstance(model, Whole) else model


def matrices(model: nn.Module) -> list[Tensor]:
    """The weights of projections and convolutions: no bias, norm, embedding, or dynamics that are no projection."""
    convolutions = [module for module in model.modules() if isinstance(module, nn.Conv1d | ShortConv)]
    weights = [p for module in convolutions for name, p in module.named_parameters(recurse=False) if name == "weight"]
    return [*projections(model), *weights]


def projections(model: nn.Module) -> list[Tensor]:
    """The weights of all Linears, and those of torch's own RNNs and attention.

    One that is computed from others at every call, by a parametrisation, is none.
    """
    found: list[Tensor] = []
    for module in model.modules():
        own = dict(module.named_parameters(recurse=False))
        if isinstance(module, nn.Linear):
            found += [own[name] for name in own if name == "weight"]
        elif isinstance(module, nn.RNNBase):
            found += [own[name] for name in own if name.startswith("weight")]
        elif isinstance(module, nn.MultiheadAttention):
            found += [own[name] for name in own if name.endswith("proj_weight")]
    return found
