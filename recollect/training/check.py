"""The mixer contract in plain words, for a mixer that a user brings, at the length and width at which it trains."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from recollect.errors import BadInput
from recollect.mixers import Mixer, Place, place_mixer
from recollect.spec import ForeignOptions, MixerOptions, RunSpec
from recollect.spec.base import canonical

BATCH, PERTURBATION = 3, 0.1
PRECISIONS = ((torch.float64, 1e-9), (torch.float32, 1e-4))
"""What is tried, and how far two outputs that must be equal may be apart, relative to the largest; an honest FFT leaks
4e-16. Single precision is for modules that cannot compute in double."""


@dataclass(frozen=True)
class Clause:
    """One clause of the contract: whether it holds, and what was seen; a run is refused where it must hold."""

    clause: str
    holds: bool
    seen: str
    must: bool = True


@dataclass(frozen=True)
class Trial:
    """A mixer with every parameter moved off its start, an input, and the precision of both."""

    mixer: Mixer
    x: Tensor
    tolerance: float

    def __call__(self, x: Tensor) -> Tensor:
        """Its output, in training mode; what it draws at random is the same at every call."""
        torch.manual_seed(1)
        y: Tensor = self.mixer(x)
        return y

    def gap(self, one: Tensor, other: Tensor) -> float:
        """The largest difference of two outputs, relative to the largest number in them; infinite where one is not."""
        most, apart = other.abs().max().item(), (one - other).abs().max().item()
        if not math.isfinite(most + apart):
            return math.inf
        return apart / most if most else apart


def check_mixer(options: MixerOptions, place: Place) -> list[Clause]:
    """Try a mixer at its place on random input; later clauses are left out when the shape is wrong."""
    with torch.random.fork_rng(devices=[]):
        for dtype, tolerance in PRECISIONS:
            torch.manual_seed(0)
            mixer = place_mixer(options, place).to(dtype)
            with torch.no_grad():
                for p in mixer.parameters():
                    p.add_(PERTURBATION * torch.randn_like(p))
            trial = Trial(mixer, torch.randn(BATCH, place.length, place.d_model, dtype=dtype), tolerance)
            shape = _shape(trial)
            if shape.holds:
                clauses: list[Callable[[Trial], Clause]] = [_causal, _past, _rows, _gradients, _repeats]
                return [shape, *(clause(trial) for clause in clauses)]
        return [shape]


def preflight(spec: RunSpec) -> None:
    """Refuse a user's mixer that cannot be loaded, built or called, or that breaks the contract, before it trains."""
    for layer, options in enumerate(spec.model.mixers):
        if isinstance(options, ForeignOptions):
            place = Place(spec.model.d_model, spec.task.length, layer, spec.model.n_layers, spec.compute.kernel)
            for found in _checked(canonical(options.model_dump(mode="json")), place):
                if found.must and not found.holds and not (spec.model.noncausal and found.clause == CAUSAL):
                    raise BadInput(f"mixer {options.name}: {found.seen}")


@cache
def _checked(options: str, place: Place) -> tuple[Clause, ...]:
    """The same source at the same place is checked once; the options pin the source by its hash."""
    return tuple(check_mixer(ForeignOptions.model_validate_json(options), place))


CAUSAL = "is causal"


def _shape(trial: Trial) -> Clause:
    clause = "returns a tensor of its input's shape (B, L, D)"
    try:
        y = trial(trial.x)
    except BadInput as error:
        return Clause(clause, False, str(error).partition(": ")[2])
    except Exception as error:
        return Clause(clause, False, f"forward raised {type(error).__name__}: {error}")
    return Clause(clause, True, f"{tuple(trial.x.shape)} -> {tuple(y.shape)}")


@torch.no_grad()
def _causal(trial: Trial) -> Clause:
    """Change the tokens after a few t: no output up to t may move."""
    length = trial.x.shape[1]
    before = trial(trial.x)
    for t in sorted({0, length // 3, 2 * length // 3, length - 2} - {-1}):
        other = trial.x.clone()
        other[:, t + 1 :] = torch.randn_like(other[:, t + 1 :])
        moved = trial.gap(trial(other)[:, : t + 1], before[:, : t + 1])
        if moved > trial.tolerance:
            return Clause(CAUSAL, False, f"it looks ahead: outputs up to token {t} move by {moved:.1e} with later ones")
    return Clause(CAUSAL, True, "no output depends on a later token")


def _past(trial: Trial) -> Clause:
    """How far back the last output reaches."""
    x = trial.x.clone().requires_grad_()
    y = trial(x)
    (grad,) = torch.autograd.grad((y[:, -1] * torch.randn_like(y[:, -1])).sum(), x, allow_unused=True)
    reached = [] if grad is None else grad.abs().amax(dim=(0, 2)).nonzero().flatten().tolist()
    back = x.shape[1] - 1 - min(reached) if reached else 0
    seen = f"the last output depends on tokens up to {back} back" if back else "no output depends on an earlier token"
    return Clause("uses the past", back > 0, seen, must=False)


@torch.no_grad()
def _rows(trial: Trial) -> Clause:
    other = torch.randn_like(trial.x)
    other[1] = trial.x[1]
    gap = trial.gap(trial(other)[1], trial(trial.x)[1])
    holds = gap <= trial.tolerance
    seen = "no row sees another" if holds else f"a row of a batch moves by {gap:.1e} with the others"
    return Clause("treats the rows of a batch independently", holds, seen)


def _gradients(trial: Trial) -> Clause:
    clause, named = "gives every parameter a finite gradient", dict(trial.mixer.named_parameters())
    wanted = {name: p for name, p in named.items() if p.requires_grad}
    if not wanted:
        return Clause(clause, True, "it has none")
    trial.mixer.zero_grad()
    (trial(trial.x) * torch.randn_like(trial.x)).sum().backward()
    wild = [name for name, p in wanted.items() if p.grad is not None and not p.grad.isfinite().all()]
    dead = [name for name, p in wanted.items() if p.grad is None or not p.grad.abs().sum() > 0]
    seen = f"none reaches: {', '.join(dead)}" if dead else "all finite"
    seen = f"gradient not finite: {', '.join(wild)}" if wild else seen
    return Clause(clause, not wild and not dead, seen.replace("inner.", ""), must=bool(wild))


@torch.no_grad()
def _repeats(trial: Trial) -> Clause:
    trial.mixer.eval()
    same = torch.equal(trial.mixer(trial.x), trial.mixer(trial.x))
    trial.mixer.train()
    seen = "identical" if same else "two calls differ in eval mode"
    return Clause("gives the same output twice", same, seen, must=False)
