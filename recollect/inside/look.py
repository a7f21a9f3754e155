"""Looking into a model: what its mixers see, their mixing matrices, what they leave of their states, gradients.

A mixer that is linear in its values hands over its matrix, exactly. For any other one stands how much each output
depends on each input, the norm of ∂y_i/∂x_j, which is called `gradient` and no mixing matrix.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from recollect.errors import BadInput
from recollect.inside.scores import Floats
from recollect.mixers import Decaying, MatrixMixer, Mixer
from recollect.training.feed import Rows
from recollect.training.learner import Learner
from recollect.training.model import Block, Model

Kind = Literal["mixing", "gradient"]
DIRECTIONS, NUMBERS = 8, 2**21
"""In which outputs are asked how they depend on inputs, and how many inputs there may be at a time."""


class Taken(NamedTuple):
    """A layer's matrices (B, H, L, L); `error` is that of finish(M v) against the output, relative to its largest."""

    kind: Kind
    M: Floats
    error: float
    decays: Floats | None  # (B, L, n)


def stack(model: Learner) -> Model:
    """A stack of mixers; one sentence where it is a user's whole model, whose parts nobody knows."""
    if not isinstance(model, Model):
        raise BadInput("a whole model cannot be taken apart: only a stack of mixers can be looked into")
    return model


def blocks(model: Model) -> list[Block]:
    """Its blocks, with their type."""
    return [block for block in model.blocks if isinstance(block, Block)]


@torch.no_grad()
def inputs(model: Model, tokens: Tensor) -> list[Tensor]:
    """What the mixer of every layer sees, (B, L, D) each."""
    x, found = model.embedded(tokens), []
    for block in blocks(model):
        found.append(block.norm(x))
        x = block(x)
    return found


def take(model: Model, tokens: Tensor) -> list[Taken]:
    """The matrices of every layer on these rows (B, L); the model is to be in evaluation mode."""
    seen = zip(blocks(model), inputs(model, tokens), strict=True)
    return [_taken(block.mixer, x, f"layer {layer}") for layer, (block, x) in enumerate(seen)]


def _taken(mixer: Mixer, x: Tensor, where: str) -> Taken:
    with torch.no_grad():
        decays = plain(mixer.decays(x)) if isinstance(mixer, Decaying) else None
        if isinstance(mixer, MatrixMixer):
            M, mixed = _mixing(mixer, x)
            y = mixer(x)
            error = (mixed - y).abs().max() / y.abs().max().clamp(min=1e-30)
            return Taken("mixing", M, float(error), decays)
    return Taken("gradient", plain(dependence(mixer, x, where)), 0.0, decays)


def _mixing(mixer: MatrixMixer, x: Tensor) -> tuple[Floats, Tensor]:
    """Its matrices and what they make of the values, a row at a time: what lies between stays in the nearest cache."""
    taken = [(mixer.mixing(row), row) for row in x.split(1)]
    return np.concatenate([plain(M) for (M, _), _ in taken]), torch.cat([mixer.finish(M @ v, r) for (M, v), r in taken])


def dependence(mixer: Mixer, x: Tensor, where: str) -> Tensor:
    """‖∂y_i/∂x_j‖ (B, 1, L, L): a row is copied once a direction u, copy u asks for u·y_i, and squares are summed."""
    u = directions(x.shape[-1]).to(x)
    parts = x.detach().split(max(1, NUMBERS // (len(u) * x[0].numel())))
    try:
        return torch.cat([_dependence(mixer, part, u) for part in parts]).unsqueeze(1)
    except RuntimeError as error:
        said = " ".join(str(error).split())
        raise BadInput(f"{where}: its mixer cannot be taken apart: no gradient reaches its input ({said})") from None


def _dependence(mixer: Mixer, x: Tensor, u: Tensor) -> Tensor:
    copies = x.repeat_interleave(len(u), dim=0).requires_grad_()  # (B S, L, D)
    asked = torch.einsum("bsld,sd->l", mixer(copies).unflatten(0, (len(x), len(u))), u)
    norms = [_norms(one, copies, dim=-1).square().unflatten(0, (len(x), len(u))).sum(1) for one in asked]
    return torch.stack(norms, dim=1).sqrt()


def directions(width: int) -> Tensor:
    """Orthonormal vectors (S, D), so scaled that squares along them add up to those along all: exactly where S = D,
    else on average over rotations, of which this is a fixed one."""
    drawn = torch.randn(width, width, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    count = min(width, DIRECTIONS)
    turned: Tensor = torch.linalg.qr(drawn)[0]
    return turned[:count] * math.sqrt(width / count)


def _norms(value: Tensor, of: Tensor, dim: int) -> Tensor:
    (grad,) = torch.autograd.grad(value, of, retain_graph=True)
    return grad.square().sum(dim).sqrt()


def gradients(model: Model, rows: Rows) -> Floats:
    """‖∂ loss_q / ∂x_j‖ of the embedded tokens x_j, for every query by itself: (B, Q, L)."""
    x = model.embedded(rows.tokens).detach().requires_grad_()
    features = x
    for layer, block in enumerate(blocks(model), start=1):
        features = block(features, rows.at if layer == len(model.blocks) else None)
    features = model.norm(features)  # (B, Q, D)
    found = []
    for q in range(rows.at.shape[1]):
        loss = F.cross_entropy(features[:, q] @ model.head_weight.T, rows.target[:, q], reduction="sum")
        found.append(_norms(loss, x, dim=-1))
    return plain(torch.stack(found, dim=1))


def plain(x: Tensor) -> Floats:
    """As numbers of numpy."""
    return x.detach().double().cpu().numpy()
