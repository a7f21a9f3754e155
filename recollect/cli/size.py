"""`recollect size`: how large a model is, or how wide it may be."""

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Annotated

from cyclopts import Parameter

from recollect.cli.options import Json, Sets, overrides, whole
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec

WIDEST = 2**17
UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}


def size(
    task: str = "mqar",
    mixer: str = "attention",
    *,
    d_model: Annotated[int | None, Parameter(converter=whole, help="width")] = None,
    n_layers: Annotated[int | None, Parameter(converter=whole, help="blocks")] = None,
    params: Annotated[str | None, Parameter(help="find the width for so many parameters, such as 150M")] = None,
    multiple: Annotated[int, Parameter(converter=whole, help="of which that width is a multiple")] = 8,
    protocol: Annotated[str, Parameter(help="a preset of everything else")] = "laptop",
    set_: Sets = (),
    json_: Json = False,
) -> None:
    """Count a model's parameters and the numbers in its state, without training it; or find its width for a budget.

    Example: recollect size --params 150M --mixer mamba --n-layers 12

    Parameters
    ----------
    task
        The task whose vocabulary and length it is built for.
    mixer
        A name, `path/to/file.py:Class`, or several joined by commas.
    """
    short = {"model.d_model": d_model, "model.n_layers": n_layers}
    given = overrides(short, set_)
    mixers = mixer.split(",") if "," in mixer else mixer

    def of_width(width: int) -> RunSpec:
        return make_spec(task, mixers, given | {"model.d_model": width}, protocol=protocol, where="size")

    if params is None:
        spec = make_spec(task, mixers, given, protocol=protocol, where="size")
    elif "model.d_model" in given:
        raise BadInput("size: --params finds the width; give it or a width (--d-model), not both")
    elif multiple < 1:
        raise BadInput(f"--multiple: must be at least 1 (got {multiple})")
    else:
        spec = of_width(width_for(read_count(params), multiple, of_width))
    from recollect.training.model import sizes

    n_params, state_size = sizes(spec)
    found = {"d_model": spec.model.d_model, "n_params": n_params, "state_size": state_size}
    width = f"d_model {spec.model.d_model}: " if params is not None else ""
    print(json.dumps(found) if json_ else f"{width}{n_params:,} parameters, state of {state_size:,} numbers")


def read_count(text: str) -> int:
    """150M -> 150,000,000."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-z]?)", text.strip().lower().replace(",", "").replace("_", ""))
    if found is None or found[2] not in UNITS or float(found[1]) == 0:
        raise BadInput(f"--params: a number above 0 such as 150M, 2.5k or 1B (got '{text}')")
    return round(float(found[1]) * UNITS[found[2]])


def width_for(budget: int, step: int, of_width: Callable[[int], RunSpec]) -> int:
    """The width whose model comes closest to the budget; parameters grow with the width, so it is found by halving."""
    from recollect.training.model import sizes

    @cache
    def count(steps: int) -> tuple[int, int]:
        """The first possible width from so many steps on, and its parameters."""
        width = allowed(steps * step, step, of_width)
        return width, sizes(of_width(width))[0]

    low, high = 1, 1
    while count(high)[1] < budget:
        low, high = high, 2 * high
        if high * step > WIDEST:
            raise BadInput(f"--params: no width up to {WIDEST:,} has {budget:,} parameters; add layers")
    if high == 1 and count(1)[1] > 1.1 * budget:
        width, smallest = count(1)
        raise BadInput(f"--params: even the width {width} has {smallest:,} parameters (asked for {budget:,})")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle)[1] < budget else (low, middle)
    return min((count(low), count(high)), key=lambda found: abs(found[1] - budget))[0]


def allowed(width: int, step: int, of_width: Callable[[int], RunSpec]) -> int:
    """This width, or the next multiple that the mixers can be built with (their heads must divide it)."""
    for wider in range(width, width + 256 * step, step):
        try:
            return of_width(wider).model.d_model
        except BadInput as error:
            problem = error
    raise problem
