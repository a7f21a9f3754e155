"""Everything there is to see in a finished run, before training and after it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch

from recollect.errors import BadInput
from recollect.inside.look import stack
from recollect.inside.patch import Interchange, interchange, question, without_taps
from recollect.inside.phases import Phases, Values, ladder, phases_of
from recollect.inside.seen import SHOWN, LayerSeen, Rows, Seen, draw_rows, look
from recollect.spec import RunSpec
from recollect.tasks.task import Ints
from recollect.training.execute import initial_model, prepare
from recollect.training.feed import place
from recollect.training.learner import Learner
from recollect.training.model import Model

MOST, BYTES = 64, 2**29
"""Rows that are looked at, and what their matrices may take."""
SIGNED = "shares of absolute mass, as some entries are negative"


@dataclass(frozen=True)
class Probe:
    """What was found; `taps` is the accuracy without each tap of every short convolution, `accuracy` with all."""

    run: str
    spec: RunSpec
    rows: Rows
    before: Seen
    after: Seen
    accuracy: float
    interchange: Interchange
    taps: dict[str, list[float]]
    phases: Phases

    @property
    def first(self) -> dict[str, Ints]:
        """Tokens and positions of the rows, whose first one has its matrices shown."""
        at = self.rows.places
        return {"tokens": self.rows.batch.tokens, "keys": at.keys, "values": at.values, "queries": at.queries}

    def to_json(self) -> dict[str, Any]:
        """One object; numbers that are not finite are null."""
        found = self.interchange
        plain = {
            "run": self.run,
            "task": self.spec.task.short(),
            "mixer": self.spec.model.mixer_name,
            "rows": len(self.rows.batch),
            "accuracy": self.accuracy,
            "row": {name: one[0].tolist() for name, one in self.first.items()},
            "layers": [_layer(*both) for both in zip(self.before.layers, self.after.layers, strict=True)],
            "gradient": {"before": self.before.gradient.tolist(), "after": self.after.gradient.tolist()},
            "interchange": {
                "clean": found.clean,
                "corrupt": found.corrupt,
                "ratios": {f"{site} at {position}": ratio for (site, position), ratio in found.ratios.items()},
            },
            "taps": self.taps,
            "ladder": ladder(self.spec),
            "phases": asdict(self.phases) | {"lags": self.phases.lags},
        }
        return {name: _finite(value) for name, value in plain.items()}


def _layer(before: LayerSeen, after: LayerSeen) -> dict[str, Any]:
    scores = {
        name: {"together": one.together, "best": one.best, "chance": one.chance} for name, one in after.scores.items()
    }
    return {
        "kind": after.kind,
        "note": SIGNED if after.is_signed else "",
        "scores": scores,
        "before": {name: one.together for name, one in before.scores.items()},
        "heads": {name: one.heads.tolist() for name, one in after.scores.items()},
        "identity": after.identity,
        "length": {"before": before.length, "after": after.length},
        "fades": {"before": before.fades.tolist(), "after": after.fades.tolist()},
        "decays": {"before": before.decays, "after": after.decays},
        "forgets": {"before": before.forgets, "after": after.forgets},
        "matrices": {str(head): M.tolist() for head, M in after.matrices.items()},
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def probe(
    run: str,
    spec: RunSpec,
    learner: Learner,
    curves: Mapping[str, Values],
    looks: Mapping[str, Mapping[int, Any]] | None = None,
    rows: int | None = None,
    heads: int = SHOWN,
) -> Probe:
    """Look into a trained model, and into the one that it was at the beginning; keep so many matrices of a layer."""
    prepare(spec)
    model, drawn = stack(learner), draw_rows(spec, rows or fitting(spec))
    if any(not p.isfinite().all() for p in model.parameters()):
        raise BadInput(f"run {run}: some of its weights are not finite, so that nothing can be seen inside")
    asked = question(drawn.batch, drawn.places, model.device)
    model.eval()
    right = lambda: _accuracy(model, drawn)  # noqa: E731
    return Probe(
        run=run,
        spec=spec,
        rows=drawn,
        before=look(initial_model(spec), drawn, heads),
        after=look(model, drawn, heads),
        accuracy=right(),
        interchange=interchange(model, asked),
        taps=without_taps(model, right),
        phases=phases_of(spec, curves, looks),
    )


def fitting(spec: RunSpec) -> int:
    """How many rows: as many as fit into memory where every channel of an expanded layer has a matrix."""
    return int(min(MOST, max(1, BYTES // (2 * spec.model.d_model * spec.task.length**2 * 8))))


@torch.no_grad()
def _accuracy(model: Model, rows: Rows) -> float:
    placed = place(rows.batch, model.device)
    return float((model(placed.tokens, placed.at).argmax(-1) == placed.target).double().mean())
