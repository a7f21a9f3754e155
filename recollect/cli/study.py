"""`recollect run`: a study, from its runs to its figure."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from recollect.cli.options import StorePath
from recollect.errors import BadInput
from recollect.store import DEFAULT


def run(
    study: str,
    /,
    *,
    scale: Annotated[Literal["smoke", "laptop", "desk", "paper"], Parameter(help="how large it is run")] = "laptop",
    store: StorePath = DEFAULT,
    out: Annotated[Path, Parameter(help="the folder for its figure")] = Path("figures"),
) -> int:
    """Run a study: train what is missing, skip what is done, go on with what was stopped, draw the figure.

    Example: recollect run demo

    Parameters
    ----------
    study
        A name (`recollect list studies`).
    """
    from recollect.studies import find_study

    found = find_study(study)
    if scale not in found.scales:
        raise BadInput(f"run {study}: no scale '{scale}'; allowed: {', '.join(found.scales)}")
    if out.exists() and not out.is_dir():
        raise BadInput(f"--out: {out} is not a directory")
    cases = found.cases(scale)
    from recollect.cli.sweeping import train_cases
    from recollect.report import draw_study
    from recollect.store import Store

    opened = Store(store, create=True)
    failed = train_cases(found.name, scale, cases, opened)
    files = draw_study(found, scale, opened, out)
    print(f"figure: {files[0]} (also {', '.join(file.suffix[1:] for file in files[1:])})")
    return 1 if failed else 0
