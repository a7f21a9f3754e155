"""Runs as tables and lists: what `list runs`, `show` and `train` print of them."""

import json
from collections.abc import Iterator, Sequence

from recollect.cli.display.live import summary
from recollect.errors import plain
from recollect.spec.compose import flatten
from recollect.store import Line, Record


def runs_list(lines: Sequence[Line]) -> Iterator[str]:
    """A line per run, under the names of the columns; a table of rich would take half a minute for thousands."""
    rows = [Line._fields, *(_texts(line) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(Line._fields))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _texts(line: Line) -> tuple[str, ...]:
    test = "" if line.test is None else f"{line.test:.1%}"
    return (*(plain(value) for value in line[:5]), f"{line.lr:g}", *(plain(value) for value in line[6:9]), test)


def show_run(record: Record) -> None:
    """Result, error, spec, provenance."""
    for line in summary(record):
        print(plain(line))
    if record.error:
        print(plain(record.error.rstrip()))
    print(f"  cell {record.cell}, attempt {record.attempt}")
    for key, value in flatten(record.spec.model_dump(mode="json")).items():
        print(f"  {key} = {json.dumps(value)}")
    print("  ops: " + ", ".join(f"{op} -> {form}" for op, form in record.spec.forms().items()))
    print("  " + ", ".join(f"{plain(key)} {plain(value)}" for key, value in record.provenance.items()))


def show_cell(records: list[Record], lines: Sequence[Line]) -> None:
    """What the runs share, then a line per learning rate and seed."""
    first = records[0]
    print(f"cell {first.cell}: {len(records)} runs, {sum(record.is_done for record in records)} of them done")
    for key, value in flatten(first.spec.model_dump(mode="json")).items():
        if key not in ("train.lr", "seed"):
            print(f"  {key} = {json.dumps(value)}")
    print(*runs_list(sorted(lines, key=lambda line: (line.lr, line.seed))), sep="\n")
