"""How a run ended, in the task's own yardsticks."""

import math
from collections.abc import Mapping

SOLVED = 0.99
NEAR_FLOOR = 0.05
NEAR_PLATEAU = 0.05
BELOW = "below chance"
OUTCOMES = ("solved", "diverged", "stuck", "guessing", BELOW, "partial")
"""How they begin: where a run is stuck, the plateau follows."""


def outcome(
    *,
    accuracy: float,
    loss: float,
    first_loss: float,
    floors: Mapping[str, float],
    plateaus: Mapping[str, float],
    answers: float | None = None,
) -> str:
    """`solved`, `diverged`, `stuck at <plateau>`, `guessing`, `below chance` or `partial`, from the last validation.

    Who recalls more than a guesser is on no plateau, whatever the loss: at a low learning rate it may pass ln K with
    almost all answers right. Floors are those of single answers; their accuracy is `answers` where several answers only
    count together.
    """
    if accuracy >= SOLVED:
        return "solved"
    if not math.isfinite(loss) or loss > first_loss + NEAR_PLATEAU:
        return "diverged"
    single = accuracy if answers is None else answers
    name, level = min(plateaus.items(), key=lambda plateau: abs(plateau[1] - loss))
    if abs(level - loss) <= NEAR_PLATEAU and single <= max(floors.values()) + NEAR_FLOOR:
        return f"stuck at {name}"
    if any(abs(single - floor) <= NEAR_FLOOR for floor in floors.values()):
        return "guessing"
    return BELOW if is_below(single, floors) else "partial"


def is_below(single: float, floors: Mapping[str, float]) -> bool:
    """Whether fewer single answers are right than any guesser's: worse than not having learned."""
    return single < min(floors.values()) - NEAR_FLOOR
