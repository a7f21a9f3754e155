"""What runs would take on a GPU, counted and not measured; without torch."""

from collections.abc import Iterable

from recollect.spec import RunSpec

FLOPS = 6
"""Operations for a parameter and token, there and back."""
SPEED = 30e12
"""Operations a second on an A100, as models of this size use it."""
LEAST = 1 / 6
"""Hours of the shortest run: the paper's took 10 minutes to 18 hours each on an A100."""


def gpu_hours(specs: Iterable[RunSpec]) -> float:
    """Hours on one A100 for all of these runs, each to its budget."""
    return sum(max(LEAST, FLOPS * weights(spec) * tokens(spec) / SPEED / 3600) for spec in specs)


def weights(spec: RunSpec) -> int:
    """About as many as the layers of a Transformer of this shape have; embedding and head cost little."""
    return 12 * spec.model.n_layers * spec.model.d_model**2


def tokens(spec: RunSpec) -> int:
    """Tokens that a run sees."""
    return spec.train.steps * spec.train.batch_size * spec.task.length
