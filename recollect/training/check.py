"""The contract in plain words, for a mixer, whole model or task that a user brings, at the sizes at which it trains."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from recollect.errors import BadInput
from recollect.mixers import Mixer, Place, place_mixer
from recollect.spec import ForeignOptions, ForeignTaskOptions, MixerOptions, RunSpec, TrainSpec, WholeOptions
from recollect.spec.base import canonical
from recollect.tasks import make_task
from recollect.tasks.check import Clause, check_task
from recollect.training.model import build_model
from recollect.training.optimiser import check_groups

BATCH, PERTURBATION = 3, 0.1
PRECISIONS = ((torch.float64, 1e-9), (torch.float32, 1e-4))
"""What is tried, and how far two outputs that must be equal may be apart, relative to the largest; an honest FFT leaks
4e-16. Single precision is for modules that cannot compute in double."""


@dataclass(frozen=True)
class Trial:
    """A mixer or model with every parameter moved off its start, an input, and how far equal outputs may be apart.

    An input is numbers (B, L, D), or tokens (B, L) of a vocabulary.
    """

    module: nn.Module
    x: Tensor
    tolerance: float
    vocab_size: int = 0

    def __call__(self, x: Tensor) -> Tensor:
        """Its output, in training mode; what it draws at random is the same at every call."""
        torch.manual_seed(1)
        y: Tensor = self.module(x)
        return y

    def other(self, x: Tensor) -> Tensor:
        """Another input of this shape."""
        return torch.randint_like(x, self.vocab_size) if self.vocab_size else torch.randn_like(x)

    def gap(self, one: Tensor, other: Tensor) -> float:
        """The largest difference of two outputs, relative to the largest number in them; infinite where one is not."""
        most, apart = other.abs().max().item(), (one - other).abs().max().item()
        if not math.isfinite(most + apart):
            return math.inf
        return apart / most if most else apart


def check_mixer(options: MixerOptions, place: Place) -> list[Clause]:
    """Try a mixer at its place on random input; later clauses are left out when the shape is wrong."""

    def trial(dtype: torch.dtype, tolerance: float) -> Trial:
        mixer = moved(place_mixer(options, place).to(dtype))
        return Trial(mixer, torch.randn(BATCH, place.length, place.d_model, dtype=dtype), tolerance)

    return _tried(trial, "returns a tensor of its input's shape (B, L, D)")


def check_model(spec: RunSpec) -> list[Clause]:
    """The same of a whole model, on random tokens."""

    def trial(dtype: torch.dtype, tolerance: float) -> Trial:
        model = moved(build_model(spec).to(dtype))
        vocabulary = spec.task.vocab_size
        return Trial(model, torch.randint(vocabulary, (BATCH, spec.task.length)), tolerance, vocabulary)

    return _tried(trial, "maps tokens (B, L) to logits (B, L, V), or to states that get a head")


def moved(module: nn.Module) -> nn.Module:
    """With all parameters a little off their start: some of them start at zero."""
    with torch.no_grad():
        for p in module.parameters():
            p.add_(PERTURBATION * torch.randn_like(p))
    return module


def _tried(trial: Callable[[torch.dtype, float], Trial], shape: str) -> list[Clause]:
    with torch.random.fork_rng(devices=[]):
        for dtype, tolerance in PRECISIONS:
            torch.manual_seed(0)
            made = trial(dtype, tolerance)
            first = _shape(made, shape)
            if first.holds:
                clauses: list[Callable[[Trial], Clause]] = [_causal, _past, _rows, _gradients, _repeats, _state]
                return [first, *(clause(made) for clause in clauses)]
        return [first]


def preflight(spec: RunSpec) -> None:
    """Refuse, before it trains, a user's code that cannot be loaded, built or called or that breaks the contract, and
    rates of parameters that a model lacks."""
    check_code(spec)
    check_groups(spec)


def check_code(spec: RunSpec) -> None:
    """The user's code."""
    if isinstance(spec.task, ForeignTaskOptions):
        _refuse(f"task {spec.task.name}", _task_checked(canonical(spec.task.model_dump(mode="json"))), spec)
    if isinstance(spec.model.mixer, WholeOptions):
        alike = spec.model_copy(update={"train": TrainSpec(), "seed": 0})
        _refuse(f"model {spec.model.mixer.name}", _model_checked(alike.to_json()), spec)
        return
    for layer, options in enumerate(spec.model.mixers):
        if isinstance(options, ForeignOptions):
            place = Place(spec.model.d_model, spec.task.length, layer, spec.model.n_layers, spec.compute.kernel)
            _refuse(f"mixer {options.name}", _checked(canonical(options.model_dump(mode="json")), place), spec)


def _refuse(what: str, clauses: Sequence[Clause], spec: RunSpec) -> None:
    for found in clauses:
        if found.must and not found.holds and not (spec.model.noncausal and found.clause == CAUSAL):
            raise BadInput(f"{what}: {found.seen}")


@cache
def _checked(options: str, place: Place) -> tuple[Clause, ...]:
    """The same source at the same place is checked once; the options pin the source by its hash."""
    return tuple(check_mixer(ForeignOptions.model_validate_json(options), place))


@cache
def _model_checked(spec: str) -> tuple[Clause, ...]:
    return tuple(check_model(RunSpec.model_validate_json(spec)))


@cache
def _task_checked(options: str) -> tuple[Clause, ...]:
    return tuple(check_task(make_task(ForeignTaskOptions.model_validate_json(options))))


CAUSAL = "is causal"


def _shape(trial: Trial, clause: str) -> Clause:
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
        other[:, t + 1 :] = trial.other(other[:, t + 1 :])
        moved = trial.gap(trial(other)[:, : t + 1], before[:, : t + 1])
        if moved > trial.tolerance:
            return Clause(CAUSAL, False, f"it looks ahead: outputs up to token {t} move by {moved:.1e} with later ones")
    return Clause(CAUSAL, True, "no output depends on a later token")


def _past(trial: Trial) -> Clause:
    """How far back the last output reaches."""
    back = _reach_of_tokens(trial) if trial.vocab_size else _reach(trial)
    seen = f"the last output depends on tokens up to {back} back" if back else "no output depends on an earlier token"
    return Clause("uses the past", back > 0, seen, must=False)


def _reach(trial: Trial) -> int:
    """By the gradient."""
    x = trial.x.clone().requires_grad_()
    y = trial(x)
    (grad,) = torch.autograd.grad((y[:, -1] * torch.randn_like(y[:, -1])).sum(), x, allow_unused=True)
    reached = [] if grad is None else grad.abs().amax(dim=(0, 2)).nonzero().flatten().tolist()
    return x.shape[1] - 1 - min(reached) if reached else 0


@torch.no_grad()
def _reach_of_tokens(trial: Trial) -> int:
    """By other tokens before a few places, the earliest first."""
    last, before = trial.x.shape[1] - 1, trial(trial.x)[:, -1]
    for back in sorted({last, last // 2, 1} & set(range(1, last + 1)), reverse=True):
        other = trial.x.clone()
        other[:, : last - back + 1] = (other[:, : last - back + 1] + 1) % trial.vocab_size
        if trial.gap(trial(other)[:, -1], before) > 0:
            return back
    return 0


@torch.no_grad()
def _rows(trial: Trial) -> Clause:
    other = trial.other(trial.x)
    other[1] = trial.x[1]
    gap = trial.gap(trial(other)[1], trial(trial.x)[1])
    holds = gap <= trial.tolerance
    seen = "no row sees another" if holds else f"a row of a batch moves by {gap:.1e} with the others"
    return Clause("treats the rows of a batch independently", holds, seen)


def _gradients(trial: Trial) -> Clause:
    clause, named = "gives every parameter a finite gradient", dict(trial.module.named_parameters())
    wanted = {name: p for name, p in named.items() if p.requires_grad}
    if not wanted:
        return Clause(clause, True, "it has none")
    trial.module.zero_grad()
    y = trial(trial.x)
    (y * torch.randn_like(y)).sum().backward()
    wild = [name for name, p in wanted.items() if p.grad is not None and not p.grad.isfinite().all()]
    dead = [name for name, p in wanted.items() if p.grad is None or not p.grad.abs().sum() > 0]
    seen = f"none reaches: {', '.join(dead)}" if dead else "all finite"
    seen = f"gradient not finite: {', '.join(wild)}" if wild else seen
    return Clause(clause, not wild and not dead, seen.replace("inner.", ""), must=bool(wild))


@torch.no_grad()
def _repeats(trial: Trial) -> Clause:
    trial.module.eval()
    same = torch.equal(trial.module(trial.x), trial.module(trial.x))
    trial.module.train()
    seen = "identical" if same else "two calls differ in eval mode"
    return Clause("gives the same output twice", same, seen, must=False)


def _state(trial: Trial) -> Clause:
    """Asked for when a run ends: what it raises then would cost the run."""
    clause, module = "tells the size of its state, or that it is unknown", trial.module
    try:
        size = module.state_size(trial.x.shape[1]) if isinstance(module, Mixer) else module.state_size()  # type: ignore[operator]
    except BadInput as error:
        return Clause(clause, False, str(error).partition(": ")[2])
    return Clause(clause, True, "unknown" if size is None else f"{size:,} numbers")
