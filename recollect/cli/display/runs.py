"""Runs as tables and lists: what `list runs`, `show` and `train` print of them."""

import json

from rich.table import Table

from recollect.cli.display.live import summary, table_console
from recollect.spec.compose import flatten
from recollect.store import Record


def runs_table(records: list[Record]) -> Table:
    """A line per run."""
    table = Table(
        "run", "task", "mixer", "layers", "d", "lr", "seed", "status", "outcome", "test", box=None, pad_edge=False
    )
    for record in records:
        spec, result = record.spec, record.result or {}
        test = result.get("test_accuracy")
        table.add_row(
            *(record.id, spec.task.name, spec.model.mixer_name, str(spec.model.n_layers), str(spec.model.d_model)),
            *(f"{spec.train.lr:g}", str(spec.seed), record.status, record.outcome or ""),
            "" if test is None else f"{test:.1%}",
        )
    return table


def show_run(record: Record) -> None:
    """Result, error, spec, provenance."""
    for line in summary(record):
        print(line)
    if record.error:
        print(record.error.rstrip())
    print(f"  cell {record.cell}, attempt {record.attempt}")
    for key, value in flatten(record.spec.model_dump(mode="json")).items():
        print(f"  {key} = {json.dumps(value)}")
    print("  ops: " + ", ".join(f"{op} -> {form}" for op, form in record.spec.forms().items()))
    print("  " + ", ".join(f"{key} {value}" for key, value in record.provenance.items()))


def show_cell(records: list[Record]) -> None:
    """What the runs share, then a line per learning rate and seed."""
    first = records[0]
    print(f"cell {first.cell}: {len(records)} runs, {sum(record.is_done for record in records)} of them done")
    for key, value in flatten(first.spec.model_dump(mode="json")).items():
        if key not in ("train.lr", "seed"):
            print(f"  {key} = {json.dumps(value)}")
    table_console().print(runs_table(sorted(records, key=lambda record: (record.spec.train.lr, record.spec.seed))))
