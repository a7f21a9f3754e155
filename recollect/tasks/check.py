"""The task contract in plain words, for a task that a user brings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recollect.errors import BadInput
from recollect.tasks.streams import generator
from recollect.tasks.task import IGNORED, Batch, Task

ROWS = 64
GUESSED = 0.05
"""By how much a guess may beat the floors: so many rows tell no more."""


WHOLE = "gives what it is asked for"


@dataclass(frozen=True)
class Clause:
    """One clause of a contract: whether it holds, and what was seen; a run is refused where it must hold."""

    clause: str
    holds: bool
    seen: str
    must: bool = True


def check_task(task: Task) -> list[Clause]:
    """Try a task on a few rows, clause by clause, up to the first that does not hold."""
    found: list[Clause] = []
    clauses: list[Callable[[Task], Clause]] = [_batch, _tokens, _questions, _repeats, _differs, _yardsticks]
    for clause in clauses:
        if not found or found[-1].holds:
            found.append(_tried(clause, task))
    return found


def _tried(clause: Callable[[Task], Clause], task: Task) -> Clause:
    """What a clause finds; code that raises on its way breaks the contract."""
    try:
        return clause(task)
    except BadInput as error:
        return Clause(WHOLE, False, str(error).partition(": ")[2])
    except Exception as error:
        return Clause(WHOLE, False, f"it raised {type(error).__name__}: {error}")


def drawn(task: Task, seed: int = 0, rows: int = ROWS) -> Batch:
    """Rows of a stream."""
    return task.draw(generator(seed, "data"), rows)


def _batch(task: Task) -> Clause:
    clause, batch = "draws tokens (B, L), asked positions (B, Q) and answers (B, Q)", drawn(task)
    shapes = f"tokens {batch.tokens.shape}, asked {batch.at.shape}, answers {batch.target.shape}"
    fits = batch.tokens.shape[1] <= task.length and batch.at.shape == batch.target.shape and batch.at.shape[1] > 0
    good = fits and len(batch.tokens) == len(batch.at) == ROWS
    return Clause(clause, good, shapes if good else f"for {ROWS} rows of at most {task.length}: {shapes}")


def _tokens(task: Task) -> Clause:
    tokens = drawn(task).tokens
    low, high = int(tokens.min()), int(tokens.max())
    return Clause("stays in its vocabulary", 0 <= low <= high < task.vocab_size, f"tokens {low} to {high}")


def _questions(task: Task) -> Clause:
    batch = drawn(task)
    asked = batch.target != IGNORED
    where, what = batch.at[asked], batch.target[asked]
    clause = "asks inside the row, for tokens"
    if not asked.any(axis=1).all():
        return Clause(clause, False, "a row asks nothing")
    inside = batch.at.min() >= 0 and batch.at.max() < batch.tokens.shape[1]
    known = what.min() >= 0 and what.max() < task.vocab_size
    seen = f"positions {where.min()} to {where.max()}, answers {what.min()} to {what.max()}"
    return Clause(clause, bool(inside and known), seen)


def _repeats(task: Task) -> Clause:
    one, other = drawn(task), drawn(task)
    same = all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("tokens", "at", "target"))
    return Clause("draws the same rows from the same generator", same, "identical" if same else "two draws differ")


def _differs(task: Task) -> Clause:
    differ = not np.array_equal(drawn(task, 0).tokens, drawn(task, 1).tokens)
    return Clause("draws other rows from another", differ, "they differ" if differ else "they are the same")


def _yardsticks(task: Task) -> Clause:
    """No answer that is always given may be right more often than the floors say; half of the rows choose it."""
    target = drawn(task, rows=32 * ROWS).target
    first, second = (half[half != IGNORED] for half in np.array_split(target, 2))
    task.plateaus()
    guess, floors = float(np.mean(second == np.bincount(first).argmax())), task.floors()
    holds = all(0 <= floor <= 1 for floor in floors.values()) and guess <= max(floors.values()) + GUESSED
    told = ", ".join(f"{name} {floor:.1%}" for name, floor in floors.items())
    seen = f"the most frequent answer is right in {guess:.1%}; floors: {told}"
    return Clause("names floors that no constant answer beats", bool(holds), seen, must=False)
