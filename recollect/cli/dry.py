"""`recollect run --dry-run`: what would be done."""

import json
from collections.abc import Sequence
from pathlib import Path

from recollect.cli.board import duration
from recollect.cli.sweeping import describe_case
from recollect.compose import flatten
from recollect.store import NoStore, Store
from recollect.studies import Case

SHOWN = 3


def report(name: str, chosen: Sequence[Case], todo: Sequence[Case], store: Path, workers: int) -> None:
    """Print the number of runs, parameters, time, and the first specs."""
    cells = len({case.spec.cell for case in chosen})
    print(f"{name}: {len(chosen)} runs in {cells} cells, {len(todo)} to do  store {store}")
    if not todo:
        return
    from recollect.estimate import estimate

    try:
        known = Store(store).seconds_by_cell()
    except NoStore:
        known = {}
    found = estimate([case.spec for case in todo], known)
    low, high = found.n_params
    print(f"parameters: {low:,}" + (f" to {high:,}" if high > low else ""))
    print(
        f"time: about {duration(found.seconds / workers)} with {workers} worker{'s' * (workers > 1)}, "
        f"if every run uses its whole budget ({how_known(found.measured, found.cells)})"
    )
    for case in todo[:SHOWN]:
        print(f"\n{case.spec.id}  {describe_case(case)}")
        for part, value in case.spec.model_dump(mode="json").items():
            fields = flatten(value) if isinstance(value, dict) else {"": value}
            print(f"  {part}: " + ", ".join(f"{key} {json.dumps(field)}".strip() for key, field in fields.items()))


def how_known(measured: int, cells: int) -> str:
    """What the estimate stands on."""
    if measured == cells:
        return "from stored runs or a few measured steps of every cell"
    return f"from stored runs or a few measured steps of {measured} of {cells} cells, the others scaled by their size"
