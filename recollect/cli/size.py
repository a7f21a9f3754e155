"""`recollect size`: how large a model is, or how wide it may be."""

import json
import re
from collections.abc import Callable, Collection
from typing import Annotated

from cyclopts import Parameter

from recollect.cli.display.live import state_of
from recollect.cli.options import Json, Sets, WholeModel, one_model, overrides, whole
from recollect.cli.options.names import MixerName, ProtocolName, TaskName
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.compose import make_spec

UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
MOST = 1e15
"""The largest budget: no machine holds such a model."""


def size(
    task: TaskName = "mqar",
    mixer: MixerName | None = None,
    *,
    model: WholeModel = None,
    d_model: Annotated[int | None, Parameter(converter=whole, help="width")] = None,
    n_layers: Annotated[int | None, Parameter(converter=whole, help="blocks")] = None,
    params: Annotated[str | None, Parameter(help="find the width for so many parameters, such as 150M")] = None,
    state: Annotated[
        str | None,
        Parameter(help="find the width for so many numbers of state, such as 8192; at a given width d_state or heads"),
    ] = None,
    multiple: Annotated[int, Parameter(converter=whole, help="of which that width is a multiple")] = 8,
    protocol: Annotated[ProtocolName, Parameter(help="a preset of everything else")] = "laptop",
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
    from recollect.training.model import sizes

    if params is not None and state is not None:
        raise BadInput("size: give --params or --state, not both")
    if multiple < 1:
        raise BadInput(f"--multiple: must be at least 1 (got {multiple})")
    given = overrides({"model.d_model": d_model, "model.n_layers": n_layers}, set_)
    mixers = one_model(mixer or (None if model else "attention"), model)

    def made(fields: dict[str, int]) -> RunSpec:
        return make_spec(task, mixers, given | fields, protocol=protocol, where="size")

    spec, found = fitted(params, state, multiple, given, made)
    n_params, state_size = sizes(spec)
    names = ", ".join(f"{name} {value}" for name, value in found.items())
    numbers = f"{n_params:,} parameters, {state_of(state_size)}"
    plain = {"d_model": spec.model.d_model} | found | {"n_params": n_params, "state_size": state_size}
    print(json.dumps(plain) if json_ else f"{names}: {numbers}" if names else numbers)


def fitted(
    params: str | None,
    state: str | None,
    multiple: int,
    given: Collection[str],
    made: Callable[[dict[str, int]], RunSpec],
) -> tuple[RunSpec, dict[str, int]]:
    """The spec for a budget, if there is one, and what was found for it; `given` are the fields that the user set."""
    from recollect.training.budget import Budget, fit_option, fit_width

    if params is None and state is None:
        return made({}), {}
    asked_by, text = ("--state", state) if params is None else ("--params", params)
    budget = Budget(read_count(text or "", asked_by), int(params is None), asked_by)
    wide, options = "model.d_model" in given, {name.removeprefix("model.mixer.") for name in given}
    if wide and params is not None:
        raise BadInput("size: --params finds the width; give it or a width (--d-model), not both")
    if not wide:
        spec = fit_width(budget, multiple, lambda width: made({"model.d_model": width}))
        return spec, {"d_model": spec.model.d_model}
    option, spec = fit_option(budget, made({}), lambda key, value: made({f"model.mixer.{key}": value}), options)
    return spec, {"d_model": spec.model.d_model, option: getattr(spec.model.mixer, option)}


def read_count(text: str, asked_by: str) -> int:
    """150M -> 150,000,000."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-z]?)", text.strip().lower().replace(",", "").replace("_", ""))
    count = float(found[1]) * UNITS.get(found[2], 0) if found else 0.0
    if not 0 < count <= MOST:
        raise BadInput(f"{asked_by}: a number above 0 and up to {MOST:g}, such as 150M, 2.5k or 1B (got '{text}')")
    return round(count)
