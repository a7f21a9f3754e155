"""From a protocol and a few overrides to a complete spec, or to one clear sentence."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from recollect.errors import BadInput, unknown
from recollect.spec.base import Frozen, checked
from recollect.spec.compute import ComputeSpec
from recollect.spec.like import roles
from recollect.spec.mixers import MIXERS
from recollect.spec.model import OF_WHOLE, ModelSpec
from recollect.spec.names import is_whole, mixer_options, task_options
from recollect.spec.protocols import PROTOCOLS, Fields, Protocol, When
from recollect.spec.run import RunSpec
from recollect.spec.sources import is_code
from recollect.spec.tasks import TASKS, TaskOptions
from recollect.spec.train import TrainSpec

SHORTHANDS = ("train.epochs", "train.warmup")
Value = TypeVar("Value")
PARTS: dict[str, type[Frozen]] = {"model": ModelSpec, "train": TrainSpec, "compute": ComputeSpec}


def make_spec(
    task: str,
    mixer: str | list[str],
    overrides: Fields | None = None,
    *,
    protocol: str = "laptop",
    like: str = "",
    where: str = "spec",
) -> RunSpec:
    """The complete spec of a task and a mixer (or one mixer per layer) under a protocol, some fields overridden.

    A user's mixer gets the exceptions that the protocol makes for the one that it is `like`.
    """
    preset, given = PROTOCOLS.find(protocol), dict(overrides or {})
    if not is_code(task):
        TASKS.find(task, f"{where}: task")
    mixers = mixer if isinstance(mixer, list) else [mixer]
    named = roles(mixers, like, where)
    flat = {key: value for key, value in preset.fields.items() if _applies(key, task)}
    _check_names(given, task, mixers, where)
    for when in (when for when in preset.exceptions if not when.tasks or task in when.tasks):
        if when.key == "model.mixer":
            flat |= {k: v for k, v in when.then.items() if _meant(k, when, mixers if is_option(k) else named)}
        elif given.get(when.key, flat.get(when.key)) in when.values:
            flat |= when.then
    if any(map(is_whole, mixers)):
        flat = {key: value for key, value in flat.items() if not _is_backbones(key)}
    else:
        flat["model.block"] = [_block(preset, name) for name in named] if len(named) > 1 else _block(preset, named[0])
    for one, other in (("train.steps", "train.epochs"), ("train.warmup_steps", "train.warmup")):
        if one in given and other in given:
            raise BadInput(f"{where}: {one} and {other} say the same thing twice; give one of them")
        if one in given:
            flat.pop(other, None)
        elif other in given:
            flat.pop(one, None)
    plain = nest(spell_out(flat | given, where), where)
    if is_code(task):
        plain["task"] = task_options(task, plain["task"]).model_dump()
    else:
        plain["task"]["name"] = task
    options = plain["model"].pop("mixer", {})
    made = [mixer_options(name, _own(name, options, len(mixers))).model_dump() for name in mixers]
    plain["model"]["mixer"] = made if len(made) > 1 else made[0]
    if len(mixers) > 1 and "model.n_layers" not in given:
        plain["model"]["n_layers"] = len(mixers)
    return checked(RunSpec, plain, where)


def spell_out(flat: Fields, where: str) -> dict[str, Any]:
    """Replace the shorthands by the numbers they stand for."""
    out = {key: value for key, value in flat.items() if key not in SHORTHANDS}
    rows, batch = flat.get("task.rows"), flat["train.batch_size"]
    epoch = (
        None if rows == "fresh" else -(-number(rows, "task.rows", where) // number(batch, "train.batch_size", where))
    )
    if "train.epochs" in flat and "train.steps" not in flat:
        if epoch is None:
            raise BadInput(
                f"{where}: train.epochs needs a fixed training set; set train.steps, or task.rows to a number"
            )
        out["train.steps"] = number(flat["train.epochs"], "train.epochs", where) * epoch
    if "train.warmup" in flat and "train.warmup_steps" not in flat:
        try:
            share = float(flat["train.warmup"])
        except (TypeError, ValueError):
            share = -1.0
        if not 0 <= share < 1:
            raise BadInput(f"{where}: train.warmup: a share of the steps in [0, 1) (got {flat['train.warmup']!r})")
        out["train.warmup_steps"] = round(share * number(out["train.steps"], "train.steps", where))
    for key in ("train.eval_every", "train.lr_hold"):
        if out.get(key) == "epoch":
            if epoch is None:
                raise BadInput(f"{where}: {key}: 'epoch' needs a fixed training set; set it to a number of steps")
            out[key] = epoch
    return out


def number(value: Any, name: str, where: str) -> int:
    """A positive whole number, or one sentence."""
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        found = 0
    if found < 1 or isinstance(value, bool) or (isinstance(value, float) and value != found):
        raise BadInput(f"{where}: {name}: a whole number >= 1 (got {value!r})")
    return found


def nest(flat: Fields, where: str = "spec") -> dict[str, Any]:
    """{'task.length': 64} -> {'task': {'length': 64}}."""
    out: dict[str, Any] = {}
    for key, value in flat.items():
        *parents, leaf = key.split(".")
        room: Any = out
        for parent in parents:
            room = room.setdefault(parent, {}) if isinstance(room, dict) else None
        if not isinstance(room, dict) or leaf in room:
            raise BadInput(f"{where}: {key}: one field is given a value and fields of its own; give one of them")
        room[leaf] = value
    return out


def flatten(plain: Mapping[str, Any], where: str = "spec") -> dict[str, Any]:
    """{'task': {'length': 64}} -> {'task.length': 64}."""
    return once(leaves(plain, lambda value: isinstance(value, Mapping)), where)


def leaves(plain: Mapping[str, Any], is_room: Callable[[Any], bool], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted fields and their values, which are whatever is no room of further fields."""
    for key, value in plain.items():
        if is_room(value):
            yield from leaves(value, is_room, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def once(fields: Iterable[tuple[str, Value]], where: str) -> dict[str, Value]:
    """Fields by name; one that is given twice is refused, as the last would win and nobody would know."""
    out: dict[str, Value] = {}
    for key, value in fields:
        if key in out:
            raise BadInput(f"{where}: {key} is given twice, be it dotted, nested or short; give it once")
        out[key] = value
    return out


def _applies(key: str, task: str) -> bool:
    kind = TaskOptions if is_code(task) else TASKS[task]
    return not key.startswith("task.") or key.removeprefix("task.") in kind.model_fields


def _is_backbones(key: str) -> bool:
    """Whether a field of a protocol is for the stack that a whole model does without."""
    return key.startswith("model.") and key.removeprefix("model.") not in OF_WHOLE


def is_option(key: str) -> bool:
    """Whether a field is an option of a mixer: a user's mixer has its own."""
    return key.startswith("model.mixer.")


def _meant(key: str, when: When, mixers: list[str]) -> bool:
    """Whether an exception for mixers sets a field; blocks are set layer by layer."""
    return key != "model.block" and bool(set(mixers) & set(when.values))


def _block(preset: Protocol, mixer: str) -> Any:
    """The block kind of one layer."""
    block = preset.fields["model.block"]
    for when in preset.exceptions:
        if when.key == "model.mixer" and mixer in when.values:
            block = when.then.get("model.block", block)
    return block


def _own(name: str, options: Mapping[str, Any], n_mixers: int) -> dict[str, Any]:
    """The options that this mixer of several knows; a mixer alone gets all of them."""
    if n_mixers == 1 or name not in MIXERS:
        return dict(options)
    return {key: value for key, value in options.items() if key in MIXERS[name].model_fields}


def _check_names(given: Fields, task: str, mixers: list[str], where: str) -> None:
    """Refuse a field that does not exist, naming the nearest one."""
    parts = PARTS | {"task": TaskOptions if is_code(task) else TASKS[task]}
    known = {f"{part}.{name}" for part, kind in parts.items() for name in kind.model_fields}
    known |= {f"model.mixer.{option}" for name in mixers if name in MIXERS for option in MIXERS[name].model_fields}
    allowed = known - {"task.name", "model.mixer", "model.mixer.name"} | {*SHORTHANDS, "seed", "numerics"}
    open_ = ("model.mixer.",) * any(map(is_code, mixers)) + ("task.",) * is_code(task)  # for the user's code to judge
    for key in given:
        if key not in allowed and not key.startswith(open_):
            raise unknown(where, key, allowed)
