"""From a name on the command line to checked options, without importing any mixer."""

from collections.abc import Container, Iterable
from typing import Any

from recollect.errors import BadInput, nearest, unknown
from recollect.spec.base import Kind, checked
from recollect.spec.mixers import MIXERS, ForeignOptions, MixerOptions, WholeOptions
from recollect.spec.registry import Registry
from recollect.spec.sources import Pinned, is_code, is_function, load_source, pinned
from recollect.spec.tasks import TASKS, ForeignTaskOptions, TaskOptions

SIZES = ("vocab_size", "length")
WHOLE = "model="
"""Before a name: it makes a whole model. A function in a file needs no such mark, a mixer is a class."""


def is_whole(name: str) -> bool:
    """Whether a name stands for a whole model."""
    return name.startswith(WHOLE) or is_function(name)


def mixer_options(name: str, options: dict[str, Any]) -> MixerOptions:
    """The checked options of a mixer that is known by name, by `file.py:Class` or by `package.module:Class`.

    `file.py:function` makes a whole model.
    """
    if not is_whole(name) and not is_code(name):
        return built_in(MIXERS, name, options)
    kind, what = (WholeOptions, "model") if is_whole(name) else (ForeignOptions, "mixer")
    code = pinned(name.removeprefix(WHOLE), what)
    refuse_pins(f"{what} {code.name}", options, WholeOptions.model_fields)
    return checked(kind, code._asdict() | options, f"{what} {code.name}")


def task_options(name: str, options: dict[str, Any]) -> TaskOptions:
    """The options of a task; a user's `file.py:Class` is made once, to know its vocabulary and length."""
    if not is_code(name):
        return built_in(TASKS, name, options)
    code = pinned(name, "task")
    own = {key: value for key, value in options.items() if key not in TaskOptions.model_fields}
    refuse_pins(f"task {code.name}", own, set(ForeignTaskOptions.model_fields) - set(SIZES))
    made = make_foreign(code, own)
    sizes = {key: getattr(made, key, None) for key in SIZES}
    for key, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise BadInput(f"task {code.name}: it needs a whole number `{key}` (got {value!r})")
    given = {"given": tuple(key for key in SIZES if key in own)}
    return checked(ForeignTaskOptions, code._asdict() | options | sizes | given, f"task {code.name}")


def built_in(members: Registry[str, type[Kind]], name: str, options: dict[str, Any]) -> Kind:
    """The checked options of a mixer or a task of ours."""
    kind, where = members.find(name), f"{members.what} {name}"
    for option in options:
        if option not in kind.model_fields:
            raise unknown(where, option, set(kind.model_fields) - {"name"})
    return checked(kind, {"name": name, **options}, where)


def refuse_pins(where: str, arguments: Iterable[str], pins: Container[str]) -> None:
    """Refuse an argument of a user's code under a name by which the spec says which code it is."""
    for name in (name for name in arguments if name in pins):
        raise BadInput(f"{where}: '{name}' cannot be set, it says which code runs; call an argument of yours otherwise")


def make_foreign(code: Pinned, arguments: dict[str, Any]) -> Any:
    """An object of a user's task class."""
    cls = code.name.rpartition(":")[2]
    module = load_source(code, "task")
    tasks = {name: one for name, one in vars(module).items() if isinstance(one, type) and hasattr(one, "draw")}
    if (found := tasks.get(cls)) is None:
        hint = nearest(cls, tasks) if tasks else ""
        raise BadInput(f"task {code.name}: a class '{cls}' with a method draw(rng, rows) is needed{hint}")
    try:
        return found(**arguments)
    except (Exception, SystemExit) as error:
        told = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        raise BadInput(f"task {code.name}: {cls}({told}) raised {type(error).__name__}: {error}") from error
