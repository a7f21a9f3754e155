"""`recollect status`: how far every study is."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Group
from rich.live import Live
from rich.table import Table

from recollect.cli.display.board import duration
from recollect.cli.display.console import console
from recollect.cli.options import Json, StorePath
from recollect.errors import plain
from recollect.store import DEFAULT, DONE, STATUSES, Store
from recollect.store.lock import Writer, who_writes

WATCH_SECONDS = 2.0
"""Between two looks at a store that is being watched."""


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


Look = tuple[Writer | None, list[Standing]]


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


def status(
    *,
    watch: Annotated[bool, Parameter(negative=(), help="look again and again, until nobody writes the store")] = False,
    store: StorePath = DEFAULT,
    json_: Json = False,
) -> None:
    """Show for every study how many runs are done, running, failed or lost, how they ended, and what is left.

    With --watch and --json every look is a JSON object on a line of its own.
    """
    now = look(store)
    seen = looks(store, now) if watch else [now]
    if json_:
        for writer, found in seen:
            print(json.dumps(told(store, writer, found)), flush=True)
    elif watch:
        with Live(console=console(), auto_refresh=False) as live:
            for writer, found in seen:
                live.update(shown(store, writer, found), refresh=True)
    else:
        console().print(shown(store, *now))


def looks(path: Path, last: Look) -> Iterator[Look]:
    """A look, and others until nobody writes the store."""
    yield last
    while last[0] is not None:
        time.sleep(WATCH_SECONDS)
        yield (last := look(path))


def look(path: Path) -> Look:
    """Who writes a store, and how far its studies are."""
    writer = who_writes(path)
    with closing(Store(path)) as opened:
        return writer, standings(opened, writer)


def told(path: Path, writer: Writer | None, found: list[Standing]) -> dict[str, Any]:
    """All of it, as JSON."""
    head = {"store": str(path), "writer": writer.name if writer else None}
    return head | {"studies": [vars(standing) | {"total": standing.total} for standing in found]}


def shown(path: Path, writer: Writer | None, found: list[Standing]) -> Group:
    """All of it."""
    who = f"written by {plain(writer.name)}" if writer else "nobody is writing"
    return Group(f"store {path}: {who}", draw(found))


def draw(found: list[Standing]) -> Table:
    """A line per study and scale."""
    table = Table("study", "scale", "runs", *STATUSES, "outcomes", "runs/h", "left", box=None, pad_edge=False)
    for one in found:
        outcomes = ", ".join(f"{count} {plain(outcome)}" for outcome, count in one.outcomes.items())
        pace = "" if one.runs_per_hour is None else f"{one.runs_per_hour:.0f}"
        left = "" if one.seconds_left is None else duration(one.seconds_left)
        counts = [str(one.statuses[status] or "-") for status in STATUSES]
        named = (plain(text) for text in (one.study or "(no study)", one.scale))
        table.add_row(*named, str(one.total), *counts, outcomes, pace, left)
    return table
