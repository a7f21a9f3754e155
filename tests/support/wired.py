"""A model wired by hand: two layers of attention that are an induction head, and nothing else.

Four subspaces: token, position, token before (written by layer 0 at every position), answer (written by layer 1).
"""

import math

import torch
from torch import Tensor, nn

from recollect.inside.look import stack
from recollect.mixers.attention import Attention
from recollect.spec import RunSpec
from recollect.training.execute import initial_model
from recollect.training.model import Block, Model
from tests.support.small import tiny

V, L = 20, 8
SHARP = 1e3
TOKEN, POSITION, BEFORE, ANSWER = (slice(0, V), slice(V, V + L), slice(V + L, 2 * V + L), slice(2 * V + L, 3 * V + L))
WIDTH = 3 * V + L


def spec() -> RunSpec:
    """Of the model; its task has 2 pairs in 8 tokens."""
    return tiny(model__d_model=WIDTH, model__n_layers=2, model__positions="learned", model__tied_head=False)


def induction_head() -> Model:
    """In evaluation mode."""
    model = stack(initial_model(spec())).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
        model.embed.weight[:, TOKEN] = torch.eye(V)
        model.position[:, POSITION] = torch.eye(L)
        model.head.weight[:, ANSWER] = torch.eye(V) * 4
        norms = [model.norm, *(block.norm for block in model.blocks if isinstance(block, Block))]
        for norm in norms:
            assert isinstance(norm, nn.LayerNorm)
            norm.weight.fill_(1)
        before, found = (block.mixer for block in model.blocks if isinstance(block, Block))
        assert isinstance(before, Attention)
        assert isinstance(found, Attention)
        wire(before, POSITION, torch.eye(L).roll(1, 0), POSITION, BEFORE, marks=2)
        found.k_proj.weight[:V, POSITION.start] = -V  # the first token reads itself, as there is none before it
        found.k_proj.weight[:V, TOKEN] = torch.eye(V) / 2  # what finds nothing reads its own token
        wire(found, TOKEN, torch.eye(V), BEFORE, ANSWER, marks=3)
    return model


def wire(layer: Attention, asks: slice, turned: Tensor, offers: slice, writes: slice, marks: int) -> None:
    """Position i asks for the position j where offers_j = turned(asks_i), and writes its token there.

    The norm has seen a sum of so many unit vectors: it is undone on the values.
    """
    size = turned.shape[0]
    mean = marks / WIDTH
    std = math.sqrt(mean - mean**2 + 1e-5)
    layer.q_proj.weight[:size, asks] = SHARP * turned.T
    layer.k_proj.weight[:size, offers] = torch.eye(size)
    layer.v_proj.weight[:V, TOKEN] = std * torch.eye(V)
    layer.v_proj.bias[:V] = mean
    layer.out_proj.weight[writes, :V] = torch.eye(V)
