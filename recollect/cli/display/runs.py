"""Runs as tables and lists: what `list runs`, `show` and `train` print of them."""

import json
from collections.abc import Iterator, Sequence

from recollect.cli.display.console import tell, width
from recollect.cli.display.live import summary
from recollect.errors import plain
from recollect.inside.phases import phases_of, told
from recollect.spec import ForeignTaskOptions
from recollect.spec.compose import flatten
from recollect.store import Line, Record
from recollect.store.records import Looks

SHORTEST = 12
"""Letters that every column keeps: a run's id."""


def runs_list(lines: Sequence[Line]) -> Iterator[str]:
    """A line per run, under the names of the columns; a table of rich would take half a minute for thousands.

    Where they are too long, the longest columns are cut.
    """
    rows = [Line._fields, *(_texts(line) for line in lines)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(Line._fields))]
    while sum(widths) + 2 * len(widths) - 2 > width() and max(widths) > SHORTEST:
        widths[widths.index(max(widths))] -= 1
    for row in rows:
        yield "  ".join(_cut(text, room).ljust(room) for text, room in zip(row, widths, strict=True)).rstrip()


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _texts(line: Line) -> tuple[str, ...]:
    test = "" if line.test is None else f"{line.test:.1%}"
    return (*(plain(value) for value in line[:5]), f"{line.lr:.3g}", *(plain(value) for value in line[6:9]), test)


def show_run(record: Record, looks: Looks) -> None:
    """Result, phases of training, error, spec, provenance."""
    for line in (*summary(record), *_phases(record, looks)):
        tell(plain(line))
    if record.error:
        tell(plain(record.error.rstrip()))
    print(f"  cell {record.cell}, attempt {record.attempt}")
    for key, value in flatten(record.spec.model_dump(mode="json")).items():
        tell(f"  {key} = {json.dumps(value)}")
    tell("  ops: " + ", ".join(f"{op} -> {form}" for op, form in record.spec.forms().items()))
    tell("  " + ", ".join(f"{plain(key)} {plain(value)}" for key, value in record.provenance.items()))


def _phases(record: Record, looks: Looks) -> list[str]:
    """Of a finished run; the ladder of a user's task is in code that is not executed here."""
    if not record.is_done or isinstance(record.spec.task, ForeignTaskOptions):
        return []
    assert record.result is not None
    return [f"  {line}" for line in told(phases_of(record.spec, record.result["curves"], looks))]


def show_cell(records: list[Record], lines: Sequence[Line]) -> None:
    """What the runs share, then a line per learning rate and seed."""
    first = records[0]
    print(f"cell {first.cell}: {len(records)} runs, {sum(record.is_done for record in records)} of them done")
    for key, value in flatten(first.spec.model_dump(mode="json")).items():
        if key not in ("train.lr", "seed"):
            tell(f"  {key} = {json.dumps(value)}")
    print(*runs_list(sorted(lines, key=lambda line: (line.lr, line.seed))), sep="\n")
