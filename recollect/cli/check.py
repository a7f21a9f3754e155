"""`recollect check`: the contract of a mixer, a whole model or a task, in plain words."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from recollect.cli.display.console import tell
from recollect.cli.options import Sets, read_sets, whole
from recollect.cli.options.names import MixerName
from recollect.errors import BadInput
from recollect.spec import TASKS, make_spec, task_options
from recollect.spec.compose import number
from recollect.spec.names import is_whole
from recollect.spec.sources import is_code, load_source, pinned
from recollect.training.costs import check_memory

if TYPE_CHECKING:
    from recollect.tasks.check import Clause


def check(
    what: MixerName,
    /,
    *,
    d_model: Annotated[int, Parameter(converter=whole, help="width to try it at")] = 64,
    length: Annotated[int, Parameter(converter=whole, help="tokens in a row")] = 64,
    n_layers: Annotated[int, Parameter(converter=whole, help="layers, of which a mixer is tried as the last")] = 1,
    set_: Sets = (),
) -> int:
    """Check that a mixer, a whole model or a task keeps its contract.

    Of a mixer and a model: shape, causality, use of the past, independence of rows, gradients, size of the state. Of a
    task: what it draws, from which randomness, and its floors. Exit code 1 where a clause does not hold. The same is
    checked before code of yours is trained.

    For example:

    recollect check my.py:Mixer

    recollect check my_model.py:build

    recollect check my_task.py:Task --set task.length=32

    Parameters
    ----------
    what
        `path/to/file.py:Class`, `path/to/file.py:function` for a whole model, `package.module:Class`, or a built-in
        name.
    """
    given = read_sets(set_)
    for size, option in ((d_model, "--d-model"), (length, "--length"), (n_layers, "--n-layers")):
        number(size, option, "check")
    clauses = tried(what, given, d_model, length, n_layers)
    for one in clauses:
        tell(f"{'holds ' if one.holds else 'BROKEN'}  {one.clause}: {one.seen}")
    return 0 if all(one.holds for one in clauses) else 1


def tried(what: str, given: dict[str, Any], d_model: int, length: int, n_layers: int) -> "list[Clause]":
    """The clauses of its contract, whatever it is."""
    if what in TASKS or is_task(what):
        from recollect.tasks import make_task
        from recollect.tasks.check import check_task

        return check_task(make_task(task_options(what, without("task.", given))))
    from recollect.mixers import Place
    from recollect.training.check import check_mixer, check_model

    fields: dict[str, Any] = {"model.d_model": d_model, "model.n_layers": n_layers}
    fields |= {f"model.mixer.{key}": value for key, value in without("model.mixer.", given).items()}
    if is_whole(what):
        fields |= {"task.length": length, "task.vocab_size": 2 * length, "task.n_pairs": 1}
    spec = make_spec("mqar", what, fields)
    check_memory([spec])
    if is_whole(what):
        return check_model(spec)
    try:
        return check_mixer(spec.model.mixers[-1], Place(d_model, length, n_layers - 1, n_layers))
    except RuntimeError as error:  # of torch, outside of what is tried: not even an input has room
        told = " ".join(str(error).split())
        raise BadInput(f"check: --length {length}: no room for an input of that length (torch: {told[:200]})") from None


def is_task(what: str) -> bool:
    """Whether a user's class draws batches."""
    if not is_code(what) or is_whole(what):
        return False
    code = pinned(what, "check")
    return callable(getattr(getattr(load_source(code, "check"), code.name.rpartition(":")[2], None), "draw", None))


def without(prefix: str, given: dict[str, Any]) -> dict[str, Any]:
    """Options by their own names."""
    return {key.removeprefix(prefix): value for key, value in given.items()}
