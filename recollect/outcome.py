"""How a run ended, in the task's own yardsticks."""

import math
from collections.abc import Mapping

SOLVED = 0.99
NEAR_FLOOR = 0.05
NEAR_PLATEAU = 0.05


def outcome(
    *,
    accuracy: float,
    loss: float,
    first_loss: float,
    floors: Mapping[str, float],
    plateaus: Mapping[str, float],
) -> str:
    """`solved`, `diverged`, `stuck at <plateau>`, `guessing` or `partial`, from the last validation."""
    if accuracy >= SOLVED:
        return "solved"
    if not math.isfinite(loss) or loss > first_loss + NEAR_PLATEAU:
        return "diverged"
    name, level = min(plateaus.items(), key=lambda plateau: abs(plateau[1] - loss))
    if abs(level - loss) <= NEAR_PLATEAU:
        return f"stuck at {name}"
    if any(abs(accuracy - floor) <= NEAR_FLOOR for floor in floors.values()):
        return "guessing"
    return "partial"
