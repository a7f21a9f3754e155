"""Which model comes closest to a budget of parameters or of state: its width, or an option of its mixer."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from recollect.errors import BadInput
from recollect.spec import RunSpec

WIDEST = 2**17
KNOBS = ("d_state", "n_heads", "head_dim", "d_key")
"""Options that change the state at a given width, the first that a mixer has being turned."""


@dataclass(frozen=True)
class Budget:
    """So many numbers, `kind` 0 of parameters and 1 of state, and the option that asked for them."""

    numbers: int
    kind: int
    asked_by: str

    def used(self, spec: RunSpec) -> int:
        """What a spec's model takes of it."""
        from recollect.training.model import sizes

        used = sizes(spec)[self.kind]
        if used is None:
            raise BadInput(f"{self.asked_by}: the state of {spec.model.mixer_name} is unknown; give it a `state_size`")
        return used

    def says(self, numbers: int) -> str:
        """In words."""
        return f"a state of {numbers:,} numbers" if self.kind else f"{numbers:,} parameters"


def fit_width(budget: Budget, step: int, of_width: Callable[[int], RunSpec]) -> RunSpec:
    """The width, a multiple of a step, whose model comes closest; what it takes grows with the width."""
    return _closest(budget, "width", WIDEST // step, step, lambda n: of_width(n * step))


def fit_option(budget: Budget, spec: RunSpec, of_option: Callable[[str, int], RunSpec]) -> tuple[str, RunSpec]:
    """The option of the mixer that sets its state at this width, and the model with its best value."""
    options = spec.model.mixer
    if isinstance(options, tuple):
        raise BadInput(f"{budget.asked_by}: with several mixers it finds the width; give no width")
    option = next((knob for knob in KNOBS if knob in type(options).model_fields), None)
    if option is None:
        raise BadInput(f"{budget.asked_by}: only the width sets the state of {options.name}; give no width")
    if option == "d_state":
        return option, _closest(budget, option, WIDEST, 1, lambda n: of_option(option, n))
    divisors = [n for n in range(1, spec.model.d_model + 1) if spec.model.d_model % n == 0]
    made = [found for n in divisors if (found := _try(lambda n=n: of_option(option, n))) is not None]  # type: ignore[misc]
    return option, min(made, key=lambda found: abs(budget.used(found) - budget.numbers))


def _closest(budget: Budget, what: str, most: int, step: int, of: Callable[[int], RunSpec]) -> RunSpec:
    """By halving: what it takes grows with n."""

    @cache
    def used(n: int) -> tuple[RunSpec, int]:
        """The first that can be built from n on (heads must divide a width), and what it takes."""
        for more in range(n, n + 256):
            if (spec := _try(lambda more=more: of(more))) is not None:  # type: ignore[misc]
                return spec, budget.used(spec)
        return of(n), 0

    low, high = 1, 1
    while used(high)[1] < budget.numbers:
        low, high = high, 2 * high
        if high > most:
            more = "" if budget.kind else "; add layers"
            raise BadInput(
                f"{budget.asked_by}: no {what} up to {most * step:,} has {budget.says(budget.numbers)}{more}"
            )
    if high == 1 and used(1)[1] > 1.1 * budget.numbers:
        spec, smallest = used(1)
        least = spec.model.d_model if what == "width" else 1
        raise BadInput(
            f"{budget.asked_by}: even the {what} {least} has {budget.says(smallest)} (asked for {budget.numbers:,})"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if used(middle)[1] < budget.numbers else (low, middle)
    return min((used(low), used(high)), key=lambda found: abs(found[1] - budget.numbers))[0]


def _try(make: Callable[[], RunSpec]) -> RunSpec | None:
    """A spec, if it can be made."""
    try:
        return make()
    except BadInput:
        return None
