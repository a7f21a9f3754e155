"""`recollect show`: one run, or one cell."""

import json
import sys

from recollect.cli.display.runs import show_cell, show_run
from recollect.cli.options import Json, StorePath
from recollect.errors import BadInput
from recollect.store import DEFAULT, Store


def show(what: str, /, *, store: StorePath = DEFAULT, json_: Json = False) -> None:
    """Show one run, with its result, its phases, its complete spec and where it ran; or all runs of one cell.

    Parameters
    ----------
    what
        A run's id or a cell's, or its beginning.
    """
    opened = Store(store)
    cell = opened.find_cell(what)
    try:
        records, is_cell = [opened.find(what)], False
    except BadInput:
        if not cell:
            raise
        records, is_cell = cell, True
    if json_:
        plain = [record.to_json() for record in records]
        json.dump(plain if is_cell else plain[0], sys.stdout)
        print()
    elif is_cell:
        show_cell(records, opened.lines(records[0].cell))
    else:
        show_run(records[0], opened.looks(records[0].id))
