"""Which model comes closest to a budget of parameters or of state: its width, or an option of its mixer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, partial

from recollect.errors import BadInput
from recollect.spec import RunSpec

WIDEST = 2**17
SIZES, PARTS = ("d_state", "d_key", "d_feature", "window"), ("head_dim", "n_heads")
"""Options that may change the state at a given width: sizes, with which it grows, and such as divide the width."""
CLOSE = 0.25
"""An option that misses the budget by a larger share of it does not meet it."""
TRIED = 256
"""So many widths are tried for a state, at most."""


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

    def missed(self, spec: RunSpec) -> int:
        """By how much a spec's model takes more or less."""
        return abs(self.used(spec) - self.numbers)

    def says(self, numbers: int) -> str:
        """In words."""
        return f"a state of {numbers:,} numbers" if self.kind else f"{numbers:,} parameters"


def fit_width(budget: Budget, step: int, of_width: Callable[[int], RunSpec]) -> RunSpec:
    """The width, a multiple of a step, whose model comes closest.

    Parameters grow with the width. A state falls where its heads become more, so that widths about the one found by
    halving are all tried.
    """
    found = _closest(budget, "width", WIDEST // step, step, lambda n: of_width(n * step))
    most = min(4 * found.model.d_model, WIDEST) // step if budget.kind else 0
    every = range(1, most + 1, max(1, most // TRIED))
    others = [spec for n in every if (spec := _try(of_width, n * step)) is not None]
    return min((found, *others), key=budget.missed)


def fit_option(
    budget: Budget, spec: RunSpec, of_option: Callable[[str, int], RunSpec], given: Collection[str] = ()
) -> tuple[str, RunSpec]:
    """The option of the mixer that sets its state at this width, and the model with its best value.

    Those that are given stay as they are.
    """
    options = spec.model.mixer
    if isinstance(options, tuple):
        raise BadInput(f"{budget.asked_by}: with several mixers it finds the width; give no width")
    own = [knob for knob in (*SIZES, *PARTS) if knob in type(options).model_fields and knob not in given]
    found = [(knob, made) for knob in own if (made := _turned(budget, spec, knob, of_option)) is not None]
    if not found:
        raise BadInput(f"{budget.asked_by}: only the width sets the state of {options.name}; give no width")
    for option, made in found:
        if budget.missed(made) <= CLOSE * budget.numbers:
            return option, made
    option, made = min(found, key=lambda one: budget.missed(one[1]))
    raise BadInput(
        f"{budget.asked_by}: at width {spec.model.d_model} the closest is {option} {getattr(made.model.mixer, option)} "
        f"with {budget.says(budget.used(made))} (asked for {budget.numbers:,}); give no width, or another"
    )


def _turned(budget: Budget, spec: RunSpec, option: str, of_option: Callable[[str, int], RunSpec]) -> RunSpec | None:
    """The model in which this option comes closest; None where it has no part in the state."""
    if not getattr(spec.model.mixer, option):
        return None  # switched off
    if option in SIZES:
        return _closest(budget, option, WIDEST, 1, lambda n: of_option(option, n))
    divisors = [n for n in range(1, spec.model.d_model + 1) if spec.model.d_model % n == 0]
    made = [found for n in divisors if (found := _try(partial(of_option, option), n)) is not None]
    return min(made, key=budget.missed) if len({*map(budget.used, made)}) > 1 else None


def _closest(budget: Budget, what: str, most: int, step: int, of: Callable[[int], RunSpec]) -> RunSpec:
    """By halving: what it takes grows with n."""

    @cache
    def used(n: int) -> tuple[RunSpec, int]:
        """The first that can be built from n on (heads must divide a width), and what it takes."""
        for more in range(n, n + 256):
            if (spec := _try(of, more)) is not None:
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
        least = spec.model.d_model if what == "width" else getattr(spec.model.mixer, what)
        raise BadInput(
            f"{budget.asked_by}: even the {what} {least} has {budget.says(smallest)} (asked for {budget.numbers:,})"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if used(middle)[1] < budget.numbers else (low, middle)
    return min((used(low)[0], used(high)[0]), key=budget.missed)


def _try(make: Callable[[int], RunSpec], n: int) -> RunSpec | None:
    """A spec, if it can be made."""
    try:
        return make(n)
    except BadInput:
        return None
