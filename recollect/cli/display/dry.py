"""`recollect run --dry-run`: what would be done."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from recollect.cli.display.board import duration
from recollect.cli.display.console import tell
from recollect.cli.display.watch import describe_case
from recollect.spec import RunSpec
from recollect.spec.compose import flatten
from recollect.store import NoStore, Record, Store
from recollect.studies import DESIGNS, Case
from recollect.sweep.executors.executor import cores
from recollect.sweep.named import Sweep
from recollect.sweep.searching import Searching
from recollect.training.costs import costs
from recollect.training.processor import advice
from recollect.window.reading import grouped

SHOWN = 3
LONG = 86400.0
"""Seconds from which on an estimate is also given for a GPU."""


def report(what: Sweep, chosen: Sequence[Case], todo: Sequence[Case], store: Path, workers: int, count: int) -> None:
    """Print the number of runs, `count` in all, parameters, time, and the first specs."""
    cells = len({case.spec.cell for case in chosen})
    tell(f"{what.name}: {count:,} runs in {cells} cell{'s' * (cells != 1)}, {len(todo):,} to do  store {store}")
    print_designs(what)
    if not todo:
        return
    for line in spans([case.spec for case in chosen]):
        tell(line)
    print_costs([case.spec for case in todo], store, workers)
    for case in todo[:SHOWN]:
        tell("", f"{case.spec.id}  {describe_case(case)}")
        for part, value in case.spec.model_dump(mode="json").items():
            fields = flatten(value) if isinstance(value, dict) else {"": value}
            tell(f"  {part}: " + ", ".join(f"{key} {json.dumps(field)}".strip() for key, field in fields.items()))


def report_search(what: Sweep, searching: Searching, known: Sequence[Record], store: Path, workers: int) -> None:
    """The same of a search, which does not know its runs beforehand: how many there may be, and which come first."""
    most = sum(cell.most(known) for _, cell in searching.cells)
    spent = sum(cell.spent(known, []) for _, cell in searching.cells)
    cells = f"{len(searching.cells)} cell{'s' * (len(searching.cells) != 1)}"
    tell(f"{what.name}: at most {most:,} runs in {cells}, {spent:,} done  store {store}")
    print_designs(what)
    todo: list[RunSpec] = []
    for label, cell in searching.cells:
        if found := cell.next(known, []):
            todo += [cell.spec] * (cell.most(known) - cell.spent(known, []))
            tell(f"  {describe_case(Case(label, found[0]))} is next; {cell.spent(known, [])} runs are there")
    for line in spans([cell.spec for _, cell in searching.cells]):
        tell(line)
    if todo:
        print_costs(todo, store, workers)


def print_designs(what: Sweep) -> None:
    """What each way to get learning rates costs, in runs of all cells."""
    counts = {design: what.runs(design) for design in DESIGNS}
    told = (f"{design} {low:,}" + f" to {high:,}" * (high > low) for design, (low, high) in counts.items())
    tell(f"  --design: {', '.join(told)} runs")


def print_costs(specs: Sequence[RunSpec], store: Path, workers: int) -> None:
    """Print the number of parameters and the time of runs."""
    try:
        known = Store(store).seconds_by_cell()
    except NoStore:
        known = {}
    runs, cells = Counter[str](), dict[str, RunSpec]()
    for spec in specs:
        cell = spec.cell
        cells[cell], runs[cell] = spec, runs[cell] + 1
    found = costs(cells, runs, known)
    low, high = found.n_params
    tell(f"parameters: {low:,}" + (f" to {high:,}" if high > low else ""))
    tell(f"workers: {workers}, each with {threads(specs)} of this machine's {cores()} cores; --workers changes it")
    if slow := advice(specs):
        tell(slow)
    devices = sorted({spec.compute.device for spec in specs if spec.compute.device != "cpu"})
    if found.seconds is not None:
        tell(
            f"time: about {duration(found.seconds / workers)} with {workers} worker{'s' * (workers > 1)}, "
            f"if every run uses its whole budget ({how_known(found.measured, found.cells)})"
        )
    else:
        tell(f"time: not measured, as --dry-run never uses the device ({', '.join(devices)})")
    if found.seconds is None or found.seconds > LONG:
        print_hours(list(cells.items()), runs)


def print_hours(cells: Sequence[tuple[str, RunSpec]], runs: Mapping[str, int]) -> None:
    """Print what an A100 would take, each precision by its own peak."""
    from recollect.training.counts import A100, count_cells, gpu_hours

    work, counted = count_cells([spec for _, spec in cells])
    how = "shapes" if counted == len(work) else f"the shapes of {counted} of {len(work)} cells"
    for precision, group in grouped((spec.compute.precision, (cell, spec)) for cell, spec in cells).items():
        hours = [[runs[cell] * each for each in gpu_hours(spec, work[spec])] for cell, spec in group if spec in work]
        if not hours:
            continue
        low, high = (sum(bound) for bound in zip(*hours, strict=True))
        tell(
            f"GPU-hours: {low:,.0f} to {high:,.0f} ({duration(3600 * low)} to {duration(3600 * high)} of one card), "
            f"counted on {how}, not measured ({A100.about(precision)})"
        )
    if left := len(cells) - len(work):
        tell(f"GPU-hours: not counted for {left} of {len(cells)} cells, whose code does not run on shapes alone")


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
