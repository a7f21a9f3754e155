"""`recollect store`: merge stores, delete runs."""

from pathlib import Path

from cyclopts import App

from recollect.cli.options import StorePath
from recollect.errors import BadInput
from recollect.store import DEFAULT, Store

app = App(name="store", help="Merge stores, delete runs.")


@app.command
def merge(into: Path, *others: Path) -> None:
    """Copy the runs of other stores into the first one, each run once, with curves, weights and study links.

    Parameters
    ----------
    into
        The store that grows; it is made where there is none.
    others
        The stores to copy from; they stay as they are.
    """
    if not others:
        raise BadInput("store merge: name at least two stores, first the one that the others go into")
    for other in others:
        Store(other).close()
    from recollect.store.merge import merge as merge_stores

    opened = Store(into, create=True)
    for other in others:
        merged = merge_stores(opened, other)
        print(f"{into}: {merged.new} runs came from {other}")
        if merged.different:
            print(f"{into}: {merged.different} runs ended differently in {other}; those of {into} stay")
    opened.close()


@app.command
def delete(*runs: str, store: StorePath = DEFAULT) -> None:
    """Forget runs and delete their files.

    Parameters
    ----------
    runs
        Ids, or their beginnings.
    """
    if not runs:
        raise BadInput("store delete: name at least one run; `recollect list runs` shows them")
    opened = Store(store)
    with opened.writing():
        found = {opened.find(run).id for run in runs}
        opened.delete(found)
    opened.close()
    print(f"{store}: {len(found)} run{'s' * (len(found) != 1)} deleted")
