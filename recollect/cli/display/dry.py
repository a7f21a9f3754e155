"""`recollect run --dry-run`: what would be done."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from recollect.cli.display.board import duration
from recollect.cli.display.searching import Searching
from recollect.cli.display.watch import describe_case
from recollect.spec import RunSpec
from recollect.spec.compose import flatten
from recollect.store import NoStore, Record, Store
from recollect.studies import DESIGNS, Case
from recollect.sweep.executors.executor import cores
from recollect.sweep.files import Sweep
from recollect.training.costs import costs
from recollect.training.processor import advice
from recollect.window.reading import grouped

SHOWN = 3
LONG = 86400.0
"""Seconds from which on an estimate is also given for a GPU."""


def report(what: Sweep, chosen: Sequence[Case], todo: Sequence[Case], store: Path, workers: int) -> None:
    """Print the number of runs, parameters, time, and the first specs."""
    cells = len({case.spec.cell for case in chosen})
    print(f"{what.name}: {len(chosen)} runs in {cells} cells, {len(todo)} to do  store {store}")
    print_designs(what)
    if not todo:
        return
    for line in spans([case.spec for case in chosen]):
        print(line)
    print_costs([case.spec for case in todo], store, workers)
    for case in todo[:SHOWN]:
        print(f"\n{case.spec.id}  {describe_case(case)}")
        for part, value in case.spec.model_dump(mode="json").items():
            fields = flatten(value) if isinstance(value, dict) else {"": value}
            print(f"  {part}: " + ", ".join(f"{key} {json.dumps(field)}".strip() for key, field in fields.items()))


def report_search(what: Sweep, searching: Searching, known: Sequence[Record], store: Path, workers: int) -> None:
    """The same of a search, which does not know its runs beforehand: how many there may be, and which come first."""
    most = sum(cell.most(known) for _, cell in searching.cells)
    spent = sum(cell.spent(known, []) for _, cell in searching.cells)
    print(f"{what.name}: at most {most} runs in {len(searching.cells)} cells, {spent} done  store {store}")
    print_designs(what)
    todo: list[RunSpec] = []
    for label, cell in searching.cells:
        if found := cell.next(known, []):
            todo += [cell.spec] * (cell.most(known) - cell.spent(known, []))
            print(f"  {describe_case(Case(label, found[0]))} is next; {cell.spent(known, [])} runs are there")
    for line in spans([cell.spec for _, cell in searching.cells]):
        print(line)
    if todo:
        print_costs(todo, store, workers)


def print_designs(what: Sweep) -> None:
    """What each way to get learning rates costs, in runs of all cells."""
    counts = {design: what.runs(design) for design in DESIGNS}
    told = (f"{design} {low:,}" + f" to {high:,}" * (high > low) for design, (low, high) in counts.items())
    print(f"  --design: {', '.join(told)} runs")


def print_costs(specs: Sequence[RunSpec], store: Path, workers: int) -> None:
    """Print the number of parameters and the time of runs."""
    try:
        known = Store(store).seconds_by_cell()
    except NoStore:
        known = {}
    found = costs(specs, known)
    low, high = found.n_params
    print(f"parameters: {low:,}" + (f" to {high:,}" if high > low else ""))
    print(f"workers: {workers}, each with {threads(specs)} of this machine's {cores()} cores; --workers changes it")
    if slow := advice(specs):
        print(slow)
    devices = sorted({spec.compute.device for spec in specs if spec.compute.device != "cpu"})
    if found.seconds is not None:
        print(
            f"time: about {duration(found.seconds / workers)} with {workers} worker{'s' * (workers > 1)}, "
            f"if every run uses its whole budget ({how_known(found.measured, found.cells)})"
        )
    elif devices:
        print(f"time: not measured, as --dry-run never uses the device ({', '.join(devices)})")
    else:
        print("time: not measured, as a step of these models takes too long here")
    if found.seconds is None or found.seconds > LONG:
        print_hours(specs)


def print_hours(specs: Sequence[RunSpec]) -> None:
    """Print what an A100 would take, each precision by its own peak."""
    from recollect.training.counts import A100, gpu_hours

    for precision, group in grouped((spec.compute.precision, spec) for spec in specs).items():
        runs = Counter(spec.cell for spec in group)
        cells = {spec.cell: spec for spec in group}
        low, high = (
            sum(hours)
            for hours in zip(*([runs[c] * h for h in gpu_hours(spec)] for c, spec in cells.items()), strict=True)
        )
        print(f"GPU-hours: {low:,.1f} to {high:,.1f}, counted on shapes, not measured ({A100.about(precision)})")


def threads(specs: Sequence[RunSpec]) -> str:
    """What a run takes, in words."""
    most = max(spec.compute.threads for spec in specs)
    return f"{most} thread{'s' * (most > 1)}"


def spans(specs: Sequence[RunSpec]) -> Iterator[str]:
    """The fields in which the runs differ, with all their values, and their length in epochs where they have some."""
    flat = [flatten(spec.model_dump(mode="json")) for spec in specs]
    for key in dict.fromkeys(name for fields in flat for name in fields):
        values = list(dict.fromkeys(json.dumps(fields[key]) for fields in flat if key in fields))
        if len(values) > 1:
            yield f"  {key}: {', '.join(values)}"
    fixed = [(spec.task.rows, spec.train) for spec in specs if spec.task.rows != "fresh"]
    epochs = sorted({train.steps / -(-int(rows) // train.batch_size) for rows, train in fixed})
    if epochs:
        yield f"  epochs: {', '.join(f'{value:g}' for value in epochs)} of {fixed[0][0]:,} rows"


def how_known(measured: int, cells: int) -> str:
    """What the estimate stands on."""
    if measured == cells:
        return "from stored runs or a few measured steps of every cell"
    return f"from stored runs or a few measured steps of {measured} of {cells} cells, the others scaled by their size"
