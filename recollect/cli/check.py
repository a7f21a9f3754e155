"""`recollect check`: the mixer contract, in plain words."""

from typing import Annotated

from cyclopts import Parameter

from recollect.cli.display.console import tell
from recollect.cli.options import Sets, read_sets, whole
from recollect.cli.options.names import MixerName
from recollect.spec import mixer_options


def check(
    mixer: MixerName,
    /,
    *,
    d_model: Annotated[int, Parameter(converter=whole, help="width to try it at")] = 64,
    length: Annotated[int, Parameter(converter=whole, help="tokens in a row")] = 64,
    n_layers: Annotated[int, Parameter(converter=whole, help="layers, of which it is tried as the last")] = 1,
    set_: Sets = (),
) -> int:
    """Check that a mixer keeps the contract: shape, causality, use of the past, independence of rows, gradients.

    Exit code 1 where a clause does not hold. The same is checked before a mixer of yours is trained.

    Parameters
    ----------
    mixer
        `path/to/file.py:Class`, `package.module:Class`, or a built-in name.
    """
    options = {key.removeprefix("model.mixer."): value for key, value in read_sets(set_).items()}
    made = mixer_options(mixer, options)
    from recollect.mixers import Place
    from recollect.training.check import check_mixer

    clauses = check_mixer(made, Place(d_model, length, n_layers - 1, n_layers))
    for one in clauses:
        tell(f"{'holds ' if one.holds else 'BROKEN'}  {one.clause}: {one.seen}")
    return 0 if all(one.holds for one in clauses) else 1
