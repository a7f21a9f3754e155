"""How training goes, group by group of parameters: gradients, steps, and the sharpness of the loss.

    gradient norm      ‖∂loss/∂w‖ on fixed rows
    update ratio       ‖Δw‖ / ‖w‖ of the step that comes next, by the run's own optimiser
    sharpness          the largest |eigenvalue| of the Hessian on fixed rows, by power iteration v <- H v / ‖H v‖ with
                       H v = (g(w + h v) - g(w - h v)) / 2h, as the fast forms have no second derivative

Everything is read, or done to a copy: the run stays as it was.
"""

import copy
import math

import torch
from torch import Tensor

from recollect.spec import RunSpec
from recollect.training.feed import Rows
from recollect.training.learner import Learner
from recollect.training.optimiser import build_optimiser
from recollect.training.trainer import Trainer, learning_rate, loss_at

ROUNDS, ROWS = 10, 64


def diagnose(trainer: Trainer) -> dict[str, float]:
    """All of them, on the first validation rows."""
    model, spec = trainer.model, trainer.spec
    rows = first(trainer.validation[0])
    twin = copy.deepcopy(model).eval()
    found = {f"{name} gradient norm": value for name, value in norms(model, gradient(twin, rows, spec)).items()}
    found |= {f"{name} update ratio": value for name, value in updates(trainer).items()}
    return found | {"sharpness": sharpness(twin, rows, spec)}


def first(rows: Rows) -> Rows:
    """Few of them."""
    tokens, at, target = rows.tokens[:ROWS], rows.at[:ROWS], rows.target[:ROWS]
    return rows._replace(tokens=tokens, at=at, target=target)


def group(name: str) -> str:
    """Of a parameter: the embedding, a block's norms, its mixer or MLP, the head."""
    parts = name.split(".")
    return f"{parts[1]} {parts[2]}" if parts[0] == "blocks" else parts[0]


def norms(model: Learner, values: list[Tensor]) -> dict[str, float]:
    """Group -> the norm of its part of a vector that is shaped like the parameters."""
    squares: dict[str, float] = {}
    for (name, _), value in zip(model.named_parameters(), values, strict=True):
        squares[group(name)] = squares.get(group(name), 0.0) + float(value.double().square().sum())
    return {name: math.sqrt(square) for name, square in squares.items()}


def updates(trainer: Trainer) -> dict[str, float]:
    """Group -> the size of the next step over that of the weights; it is taken by a copy."""
    train, parameters = trainer.spec.train, [p.detach() for p in trainer.parameters]
    step = min(trainer.progress.step, train.steps - 1)
    twin = copy.deepcopy(trainer.model)
    optimiser = build_optimiser(twin, train)
    optimiser.load({name: value.clone() for name, value in trainer.optimiser.state().items()})
    for p, grad in zip(twin.parameters(), gradient(twin, trainer.feed.rows(step), trainer.spec), strict=True):
        p.grad = grad
    if train.clip is not None:
        torch.nn.utils.clip_grad_norm_(twin.parameters(), train.clip)
    optimiser.step(learning_rate(train, step))
    taken = [p.detach() - w for p, w in zip(twin.parameters(), parameters, strict=True)]
    size = norms(trainer.model, parameters)
    return {name: value / size[name] for name, value in norms(trainer.model, taken).items() if size[name] > 0}


def gradient(model: Learner, rows: Rows, spec: RunSpec) -> list[Tensor]:
    """Of the loss on these rows, by every parameter."""
    with torch.enable_grad():
        loss, _ = loss_at(model, rows, spec)
        return [*torch.autograd.grad(loss, list(model.parameters()))]


def sharpness(model: Learner, rows: Rows, spec: RunSpec, rounds: int = ROUNDS) -> float:
    """The largest |eigenvalue| of the Hessian."""
    rng = torch.Generator().manual_seed(0)
    v, value = _unit([torch.randn(p.shape, generator=rng).to(p.device) for p in model.parameters()])
    for _ in range(rounds):
        v, value = _unit(hessian_times(v, model, rows, spec))
    return value


@torch.no_grad()
def hessian_times(v: list[Tensor], model: Learner, rows: Rows, spec: RunSpec, step: float = 1e-3) -> list[Tensor]:
    """H v for a v of length 1; the model's weights are moved to and fro, and end where they were."""
    parameters = list(model.parameters())
    kept, sides = [p.clone() for p in parameters], []
    for sign in (1, -1):
        for p, w, direction in zip(parameters, kept, v, strict=True):
            p.copy_(w + sign * step * direction)
        sides.append(gradient(model, rows, spec))
    for p, w in zip(parameters, kept, strict=True):
        p.copy_(w)
    return [(a - b) / (2 * step) for a, b in zip(*sides, strict=True)]


def _unit(v: list[Tensor]) -> tuple[list[Tensor], float]:
    """A vector of length 1, and the length that it had."""
    length = math.sqrt(sum(float(part.double().square().sum()) for part in v))
    return [part / max(length, 1e-30) for part in v], length
