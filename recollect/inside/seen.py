"""One look into a model: everything that is measured on some rows of its task, layer by layer."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from recollect.inside.decay import by_distance, fitted_length, forgotten, spectrum, to_query
from recollect.inside.look import Kind, Taken, gradients, stack, take
from recollect.inside.scores import Floats, Score, repeated, score_places, score_repeats
from recollect.spec import RunSpec
from recollect.tasks import Batch, Places, make_task
from recollect.tasks.streams import generator
from recollect.tasks.task import Ints
from recollect.training.feed import place, send
from recollect.training.learner import Learner

SHOWN = 4
"""Matrices of a layer that are shown: those of the heads or channels that read most where the answer is."""


@dataclass(frozen=True)
class Rows:
    """What a model is looked at with: rows of its task, and random tokens said four times over."""

    batch: Batch
    places: Places
    repeats: Ints  # (B', L)


@dataclass(frozen=True)
class LayerSeen:
    """One layer; `identity` is the error of M v against the output, `fades` the mean |M_ij| by distance."""

    kind: Kind
    scores: dict[str, Score]
    identity: float
    fades: Floats  # (L,)
    decays: dict[str, float]  # quantiles; empty where the state has none
    forgets: dict[str, float]  # by role
    matrices: dict[int, Floats]  # head -> (L, L), of the first row
    is_signed: bool  # some entry of some row is negative

    @property
    def length(self) -> float:
        """The fitted length of `fades`, in tokens."""
        return fitted_length(self.fades)


@dataclass(frozen=True)
class Seen:
    """All layers, and ‖∂loss/∂x_j‖ by the distance to the query."""

    layers: list[LayerSeen]
    gradient: Floats  # (L,)

    def numbers(self) -> dict[str, float]:
        """Name -> number, those of a layer under its place: `1 induction`, and of the best head `1 induction, best`."""
        found = {"gradient length": fitted_length(self.gradient)}
        for layer, seen in enumerate(self.layers):
            found |= {f"{layer} {name}": score.together for name, score in seen.scores.items()}
            found |= {f"{layer} {name}, best": score.best for name, score in seen.scores.items()}
            found |= {f"{layer} {name}, chance": score.chance for name, score in seen.scores.items()}
            found |= {f"{layer} length": seen.length, f"{layer} identity": seen.identity}
            found |= {f"{layer} forgets at {role}": value for role, value in seen.forgets.items()}
        return found

    def arrays(self, places: Places) -> dict[str, Any]:
        """Name -> nested lists: curves by distance, pictures of the first row with its positions."""
        found: dict[str, Any] = {"gradient": self.gradient.tolist()}
        for name, columns in (("keys", places.keys), ("values", places.values), ("queries", places.queries)):
            found[name] = columns[0].tolist()
        for layer, seen in enumerate(self.layers):
            found[f"{layer} fades"] = seen.fades.tolist()
            found |= {f"{layer} {seen.kind} {head}": M.tolist() for head, M in seen.matrices.items()}
        return found


def draw_rows(spec: RunSpec, rows: int) -> Rows:
    """Of a run's own task, from its validation stream; one sentence for a task that has no pairs."""
    task, rng = make_task(spec.task), generator(spec.seed, "validation")
    batch = task.draw(rng, rows)
    return Rows(batch, task.places(batch), repeated(rng, max(1, rows // 2), batch.tokens.shape[1], task.vocab_size))


def look(learner: Learner, rows: Rows, heads: int = SHOWN) -> Seen:
    """Look into a model, keep so many matrices of each layer, and leave it as it was."""
    model, n = stack(learner), len(rows.batch)
    was_training = model.training
    model.eval()
    taken = take(model, send(np.concatenate((rows.batch.tokens, rows.repeats)), model.device))
    with torch.enable_grad():
        norms = gradients(model, place(rows.batch, model.device))
    model.train(was_training)
    return Seen([_layer(layer, rows, n, heads) for layer in taken], to_query(norms, rows.batch.at))


def _layer(taken: Taken, rows: Rows, n: int, heads: int) -> LayerSeen:
    own, again = taken.M[:n], taken.M[n:]
    scores = {**score_places(own, rows.places), **score_repeats(again, rows.repeats)}
    first = np.argsort(-scores["induction"].heads, kind="stable")[:heads]
    return LayerSeen(
        kind=taken.kind,
        scores=scores,
        identity=taken.error,
        fades=by_distance(own),
        decays={} if taken.decays is None else spectrum(taken.decays[:n]),
        forgets={} if taken.decays is None else forgotten(taken.decays[:n], rows.places),
        matrices={int(head): own[0, head] for head in first},
        is_signed=bool((own < 0).any()),
    )
