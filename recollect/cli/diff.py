"""`recollect diff`: in which fields two runs differ."""

import json

from rich.table import Table

from recollect.cli.display.console import console
from recollect.cli.options import StorePath
from recollect.spec.compose import flatten
from recollect.store import DEFAULT, Store


def diff(one: str, other: str, /, *, store: StorePath = DEFAULT) -> None:
    """Show in which fields two runs differ, and how each ended.

    Parameters
    ----------
    one
        A run's id, or its beginning.
    other
        Another run's.
    """
    opened = Store(store)
    records = [opened.find(one), opened.find(other)]
    flat = [flatten(record.spec.model_dump(mode="json")) for record in records]
    table = Table("field", *(record.id for record in records), box=None, pad_edge=False)
    for key in dict.fromkeys([*flat[0], *flat[1]]):
        if flat[0].get(key) != flat[1].get(key):
            table.add_row(key, *(json.dumps(side.get(key)) for side in flat))
    for key in ("outcome", "test_accuracy", "steps"):
        table.add_row(key, *(json.dumps((record.result or {}).get(key)) for record in records), style="bold")
    console().print(table)
