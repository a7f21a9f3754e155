"""`recollect status`: how far every study is."""

import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rich.markup import escape
from rich.table import Table

from recollect.cli.display.board import duration
from recollect.cli.display.live import table_console
from recollect.cli.options import Json, StorePath
from recollect.errors import plain
from recollect.store import DEFAULT, DONE, STATUSES, Store
from recollect.store.lock import Writer, who_writes


@dataclass
class Standing:
    """A study at a scale: its runs by status and by outcome, and its pace while a coordinator is at work."""

    study: str
    scale: str
    statuses: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATUSES, 0))
    outcomes: dict[str, int] = field(default_factory=dict)
    runs_per_hour: float | None = None
    seconds_left: float | None = None

    @property
    def total(self) -> int:
        """All its runs."""
        return sum(self.statuses.values())


def standings(store: Store, writer: Writer | None) -> list[Standing]:
    """All studies of a store. Without a coordinator nothing is running, whatever a killed one left written."""
    found = []
    recent = store.finished_since(writer.since) if writer else {}
    for (study, scale), tallies in groupby(store.tallies(), key=lambda tally: (tally.study, tally.scale)):
        standing, outcomes = Standing(study, scale), Counter[str]()
        for tally in tallies:
            status = "pending" if tally.status == "running" and writer is None else tally.status
            standing.statuses[status] = standing.statuses.get(status, 0) + tally.runs
            if tally.status == DONE:
                outcomes[tally.outcome] += tally.runs
        standing.outcomes = dict(outcomes.most_common())
        if writer is not None and (ended := recent.get((study, scale))):
            standing.runs_per_hour = 3600 * ended / max(1.0, time.time() - writer.since)
            waiting = standing.statuses["pending"] + standing.statuses["running"]
            standing.seconds_left = 3600 * waiting / standing.runs_per_hour
        found.append(standing)
    return found


def status(*, store: StorePath = DEFAULT, json_: Json = False) -> None:
    """Show for every study how many runs are done, running, failed or lost, how they ended, and what is left."""
    writer = who_writes(store)
    opened = Store(store)
    found = standings(opened, writer)
    opened.close()
    if json_:
        head: dict[str, Any] = {"store": str(store), "writer": writer.name if writer else None}
        json.dump(head | {"studies": [vars(standing) | {"total": standing.total} for standing in found]}, sys.stdout)
        print()
        return
    print(f"store {store}: {f'written by {plain(writer.name)}' if writer else 'nobody is writing'}")
    table_console().print(draw(found))


def draw(found: list[Standing]) -> Table:
    """A line per study and scale."""
    table = Table("study", "scale", "runs", *STATUSES, "outcomes", "runs/h", "left", box=None, pad_edge=False)
    for one in found:
        outcomes = ", ".join(f"{count} {plain(outcome)}" for outcome, count in one.outcomes.items())
        pace = "" if one.runs_per_hour is None else f"{one.runs_per_hour:.0f}"
        left = "" if one.seconds_left is None else duration(one.seconds_left)
        counts = [str(one.statuses[status] or "-") for status in STATUSES]
        named = (escape(plain(text)) for text in (one.study or "(no study)", one.scale))
        table.add_row(*named, str(one.total), *counts, escape(outcomes), pace, left)
    return table
