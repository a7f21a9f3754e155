"""Interventions: where in the model does the answer pass?

Interchange: in every row the key of the pair that one query asks for is replaced by another key, so that the answer is
lost; then one activation is put back as it was, at one of four positions (the key, the value, the token behind it, the
query), and

    ratio = (restored - corrupt) / (clean - corrupt)          of the answer's mean log-probability

is the share of the answer that passes there, where enough of it is lost to be followed. Activations: the stream after
each block, what its mixer and its MLP write, and what its short convolutions hand over (the only ones that can tell
inside a single layer). Where the value's position, or with a convolution the next one, holds the key, it is induction;
else a direct retrieval.

Ablation: one tap of a short convolution is set to zero, in all channels.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from recollect.inside.look import blocks
from recollect.mixers.parts import ShortConv
from recollect.tasks.task import Batch, Ints, Places
from recollect.training.feed import send
from recollect.training.model import Model

POSITIONS = ("key", "value", "behind", "query")
LOST = 0.1
"""Nats that the answer has to lose without its key: below it nothing is recalled, and ratios would be noise."""


class Interchange(NamedTuple):
    """The answer's mean log-probability clean and corrupt, and (site, position) -> ratio, if anything is lost."""

    clean: float
    corrupt: float
    ratios: dict[tuple[str, str], float]


class Question(NamedTuple):
    """Rows with one query each, and the same rows without the key that it asks for."""

    tokens: Tensor  # (B, L)
    corrupt: Tensor  # (B, L)
    target: Tensor  # (B,)
    where: dict[str, Tensor]  # position -> (B,)


def sites(model: Model) -> dict[str, nn.Module]:
    """Modules whose output (B, L, ·) can be put back, by name."""
    found: dict[str, nn.Module] = {}
    for layer, block in enumerate(blocks(model)):
        found |= {f"{layer} {name}": conv for name, conv in convolutions(block.mixer).items()}
        found[f"{layer} mixer"] = block.mixer
        if block.mlp is not None:
            found[f"{layer} mlp"] = block.mlp
        found[f"{layer} stream"] = block
    return found


def convolutions(mixer: nn.Module) -> dict[str, ShortConv]:
    """The short convolutions of a mixer, by name."""
    return {name: part for name, part in mixer.named_modules() if isinstance(part, ShortConv)}


def question(batch: Batch, places: Places, device: torch.device) -> Question:
    """Row b asks its query b mod Q, or the next that does not stand right behind its value; rows without are left out.

    The key of the asked pair becomes the first key of a later row that is not in this one.
    """
    apart = batch.at > places.value + 1  # (B, Q)
    rows = np.flatnonzero(apart.any(1))
    order = (rows[:, None] + np.arange(apart.shape[1])) % apart.shape[1]
    one = order[np.arange(len(rows)), np.take_along_axis(apart[rows], order, 1).argmax(1)]
    key, value = places.key[rows, one], places.value[rows, one]
    corrupt = batch.tokens[rows]
    corrupt[np.arange(len(rows)), key] = [_foreign(batch.tokens, places.keys, int(row)) for row in rows]
    tokens, changed, target = (send(part, device) for part in (batch.tokens[rows], corrupt, batch.target[rows, one]))
    where = (send(part, device) for part in (key, value, value + 1, batch.at[rows, one]))
    return Question(tokens, changed, target, dict(zip(POSITIONS, where, strict=True)))


def _foreign(tokens: Ints, keys: Ints, row: int) -> int:
    """A key of another row that does not occur in this one; any token that does not where there is none."""
    others = np.roll(np.take_along_axis(tokens, keys.astype(np.int64), 1), -row - 1, axis=0).ravel()
    missing = others[~np.isin(others, tokens[row])]
    return int(missing[0] if len(missing) else np.setdiff1d(np.arange(1, tokens.max() + 2), tokens[row])[0])


@torch.no_grad()
def interchange(model: Model, asked: Question, least: float = LOST) -> Interchange:
    """The ratios of all sites and positions where so much is lost; the model is to be in evaluation mode."""
    found = sites(model)
    kept: dict[str, Tensor] = {}
    with _hooked({name: (part, _keep(kept, name)) for name, part in found.items()}):
        clean = answer(model, asked.tokens, asked)
    corrupt = answer(model, asked.corrupt, asked)
    ratios: dict[tuple[str, str], float] = {}
    if not clean - corrupt >= least:
        return Interchange(clean, corrupt, ratios)
    for name, part in found.items():
        for position, at in asked.where.items():
            with _hooked({name: (part, _restore(kept[name], at))}):
                restored = answer(model, asked.corrupt, asked)
            ratios[name, position] = (restored - corrupt) / (clean - corrupt)
    return Interchange(clean, corrupt, ratios)


def answer(model: Model, tokens: Tensor, asked: Question) -> float:
    """The mean log-probability of the right answers; everything is computed at all positions."""
    x = model.embedded(tokens)
    for block in blocks(model):
        x = block(x)
    rows = torch.arange(len(tokens), device=tokens.device)
    logits = model.norm(x[rows, asked.where["query"]]) @ model.head_weight.T
    return -float(F.cross_entropy(logits, asked.target))


Hook = Callable[[nn.Module, Any, Tensor], Tensor | None]


def _keep(kept: dict[str, Tensor], name: str) -> Hook:
    def hook(module: nn.Module, given: Any, output: Tensor) -> None:
        kept[name] = output

    return hook


def _restore(clean: Tensor, at: Tensor) -> Hook:
    def hook(module: nn.Module, given: Any, output: Tensor) -> Tensor:
        mended, rows = output.clone(), torch.arange(len(output), device=output.device)
        mended[rows, at] = clean[rows, at]
        return mended

    return hook


@contextmanager
def _hooked(hooks: dict[str, tuple[nn.Module, Hook]]) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module, hook in hooks.values()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def without_taps(model: Model, judge: Callable[[], float]) -> dict[str, list[float]]:
    """Convolution -> what `judge` says without the tap of lag 0, 1, ...; the weights are put back."""
    found: dict[str, list[float]] = {}
    for layer, block in enumerate(blocks(model)):
        for name, conv in convolutions(block.mixer).items():
            weight = conv.weight.clone()
            values = []
            for tap in reversed(range(weight.shape[1])):  # the last tap weighs the token itself
                conv.weight[:, tap] = 0
                values.append(judge())
                conv.weight.copy_(weight)
            found[f"{layer} {name}"] = values
    return found
