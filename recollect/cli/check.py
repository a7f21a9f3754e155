"""`recollect check`: the mixer contract, in plain words."""

from typing import Annotated

from cyclopts import Parameter

from recollect.cli.options import Sets, read_sets
from recollect.spec import mixer_options


def check(mixer: str, /, *, d_model: Annotated[int, Parameter(help="width to try it at")] = 16, set_: Sets = ()) -> int:
    """Check that a mixer keeps the contract: shape, causality, use of the past, independence of rows, gradients.

    Exit code 1 where a clause does not hold.

    Parameters
    ----------
    mixer
        `path/to/file.py:Class`, `package.module:Class`, or a built-in name.
    """
    options = {key.removeprefix("model.mixer."): value for key, value in read_sets(set_).items()}
    made = mixer_options(mixer, options)
    from recollect.training.check import check_mixer

    findings = check_mixer(made, d_model)
    for finding in findings:
        print(f"{'holds ' if finding.holds else 'BROKEN'}  {finding.clause}: {finding.seen}")
    return 0 if all(finding.holds for finding in findings) else 1
