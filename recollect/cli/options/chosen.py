"""Which of a store's runs are meant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.options import whole
from recollect.errors import BadInput, unknown
from recollect.spec import MIXERS, TASKS
from recollect.store import Line
from recollect.tasks.outcome import OUTCOMES


@Parameter(name="*")
@dataclass(frozen=True)
class Chosen:
    """Filters; a run must pass all of them."""

    study: Annotated[str | None, Parameter(help="runs of this study")] = None
    task: Annotated[str | None, Parameter(help="runs on this task")] = None
    mixer: Annotated[str | None, Parameter(help="runs of this mixer, alone or in a hybrid")] = None
    d_model: Annotated[int | None, Parameter(converter=whole, help="runs of this width")] = None
    n_layers: Annotated[int | None, Parameter(converter=whole, help="runs of this depth")] = None
    lr: Annotated[tuple[float, float] | None, Parameter(help="runs at learning rates between these two")] = None
    seed: Annotated[int | None, Parameter(converter=whole, help="runs of this seed")] = None
    status: Annotated[
        Literal["pending", "running", "done", "failed", "lost"] | None, Parameter(help="runs in this state")
    ] = None
    outcome: Annotated[str | None, Parameter(help="runs that ended so: solved, diverged, stuck, ...")] = None
    last: Annotated[int | None, Parameter(converter=whole, help="only the newest so many")] = None

    def among(self, lines: Sequence[Line]) -> list[Line]:
        """The lines of the runs that pass; those of the study are known beforehand."""
        self.check_numbers()
        found = [line for line in lines if self.passes(line)]
        if not found:
            self.check(lines)
        return found if self.last is None else found[max(0, len(found) - self.last) :]

    def check_numbers(self) -> None:
        """Refuse what no run can pass."""
        if self.last is not None and self.last < 1:
            raise BadInput(f"--last: must be at least 1 (got {self.last})")
        if self.lr is not None and not self.lr[0] <= self.lr[1]:
            raise BadInput(f"--lr: give the lower rate first (got {self.lr[0]:g} {self.lr[1]:g})")

    def check(self, lines: Sequence[Line]) -> None:
        """Refuse names that neither we nor these runs know; an outcome may be cut short."""
        mixers = [name for line in lines for name in (line.mixer, *line.mixer.split("+"))]
        known = {"task": [*TASKS, *(line.task for line in lines)], "mixer": [*MIXERS, *mixers]}
        for name, names in known.items():
            if (given := getattr(self, name)) is not None and given not in names:
                raise unknown(f"--{name}", given, names)
        outcomes = [*OUTCOMES, *(line.outcome for line in lines)]
        if self.outcome and not any(one.startswith(self.outcome) for one in outcomes):
            raise unknown("--outcome", self.outcome, outcomes)

    def passes(self, line: Line) -> bool:
        """Whether a run passes every filter that is given."""
        equal = {"task": line.task, "d_model": line.d, "n_layers": line.layers, "seed": line.seed}
        equal |= {"status": line.status}
        if any(getattr(self, name) not in (None, value) for name, value in equal.items()):
            return False
        low, high = self.lr or (line.lr, line.lr)
        in_range = any(low <= lr <= high for lr in (line.lr, float(f"{line.lr:.3g}")))  # as the list shows it, too
        is_mixer = self.mixer is None or self.mixer in (line.mixer, *line.mixer.split("+"))
        return is_mixer and in_range and line.outcome.startswith(self.outcome or "")
