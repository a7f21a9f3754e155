"""The mixer contract in plain words, for a mixer that a user brings."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from recollect.errors import BadInput
from recollect.mixers import Mixer, Place, place_mixer
from recollect.spec import ForeignOptions, MixerOptions, RunSpec

BATCH, LENGTH, PERTURBATION = 3, 12, 0.1


@dataclass(frozen=True)
class Clause:
    """One clause of the contract: whether it holds, and what was seen."""

    clause: str
    holds: bool
    seen: str


def check_mixer(options: MixerOptions, d_model: int = 16) -> list[Clause]:
    """Try a mixer on small random input; later clauses are left out when the shape is wrong."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        mixer = place_mixer(options, Place(d_model, LENGTH)).double()
        with torch.no_grad():
            for p in mixer.parameters():
                p.add_(PERTURBATION * torch.randn_like(p))
        x = torch.randn(BATCH, LENGTH, d_model, dtype=torch.float64)
        shape = _shape(mixer, x)
        if not shape.holds:
            return [shape]
        clauses: list[Callable[[Mixer, Tensor], Clause]] = [_causal, _past, _rows, _gradients, _repeats]
        return [shape, *(clause(mixer, x) for clause in clauses)]


def preflight(spec: RunSpec) -> None:
    """Refuse a user's mixer that cannot be loaded, built or called, before anything is written."""
    for layer, options in enumerate(spec.model.mixers):
        if isinstance(options, ForeignOptions):
            place = Place(spec.model.d_model, spec.task.length, layer, spec.model.n_layers, spec.compute.kernel)
            with torch.random.fork_rng(devices=[]):
                finding = _shape(place_mixer(options, place), torch.randn(2, spec.task.length, spec.model.d_model))
            if not finding.holds:
                raise BadInput(f"mixer {options.name}: {finding.seen}")


def _shape(mixer: Mixer, x: Tensor) -> Clause:
    clause = "returns a tensor of its input's shape (B, L, D)"
    try:
        y = mixer(x)
    except BadInput as error:
        return Clause(clause, False, str(error).partition(": ")[2])
    except Exception as error:
        return Clause(clause, False, f"forward raised {type(error).__name__}: {error}")
    return Clause(clause, True, f"{tuple(x.shape)} -> {tuple(y.shape)}")


def _reach(mixer: Mixer, x: Tensor) -> Tensor:
    """How much output row i depends on input row j, (L, L)."""
    x = x.clone().requires_grad_()
    direction = torch.randn(x.shape[-1], dtype=x.dtype)
    rows = []
    for i in range(x.shape[1]):
        (grad,) = torch.autograd.grad((mixer(x)[:, i] @ direction).sum(), x)
        rows.append(grad.abs().amax(dim=(0, 2)))
    return torch.stack(rows)


def _causal(mixer: Mixer, x: Tensor) -> Clause:
    ahead = _reach(mixer, x).triu(1)
    i, j = divmod(int(ahead.argmax()), LENGTH)
    seen = "no output depends on a later token" if ahead.max() == 0 else f"output {i} depends on token {j}"
    return Clause("is causal", bool(ahead.max() == 0), seen)


def _past(mixer: Mixer, x: Tensor) -> Clause:
    reach = _reach(mixer, x).tril(-1)
    used = [i - j for i in range(LENGTH) for j in range(i) if reach[i, j] > 0]
    seen = f"an output depends on tokens up to {max(used)} back" if used else "no output depends on an earlier token"
    return Clause("uses the past", bool(used), seen)


def _rows(mixer: Mixer, x: Tensor) -> Clause:
    gap = (mixer(x)[1:2] - mixer(x[1:2])).abs().max().item()
    return Clause("treats the rows of a batch independently", gap < 1e-9, f"largest difference {gap:.1e}")


def _gradients(mixer: Mixer, x: Tensor) -> Clause:
    clause = "gives every parameter a finite gradient"
    if not any(p.requires_grad for p in mixer.parameters()):
        return Clause(clause, True, "it has none")
    mixer.zero_grad()
    (mixer(x) * torch.randn_like(x)).sum().backward()
    dead = [
        n for n, p in mixer.named_parameters() if p.requires_grad and (p.grad is None or not p.grad.abs().sum() > 0)
    ]
    wild = [n for n, p in mixer.named_parameters() if p.grad is not None and not p.grad.isfinite().all()]
    seen = f"not finite: {', '.join(wild)}" if wild else f"none reaches: {', '.join(dead)}" if dead else "all finite"
    return Clause(clause, not wild and not dead, seen.replace("inner.", ""))


def _repeats(mixer: Mixer, x: Tensor) -> Clause:
    mixer.eval()
    same = torch.equal(mixer(x), mixer(x))
    mixer.train()
    return Clause("gives the same output twice", same, "identical" if same else "two calls differ in eval mode")
