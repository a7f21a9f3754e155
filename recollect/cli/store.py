"""`recollect store`: merge stores, delete runs, check and mend."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from recollect.cli.options import StorePath
from recollect.errors import BadInput, plain
from recollect.store import DEFAULT, Store
from recollect.store.check import problems

app = App(name="store", help="Merge stores, delete runs, check and mend.")


@app.command
def merge(
    into: Path,
    *others: Path,
    light: Annotated[bool, Parameter(negative=(), help="only finished runs, without weights: to pass on")] = False,
) -> None:
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
        merged = merge_stores(opened, other, light=light)
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
        found = {opened.find_id(run) for run in runs}
        opened.delete(found)
    opened.close()
    print(f"{store}: {len(found)} run{'s' * (len(found) != 1)} deleted")


@app.command
def check(
    *, mend: Annotated[bool, Parameter(negative=(), help="put right what can be")] = False, store: StorePath = DEFAULT
) -> int:
    """Look for runs that cannot be read, or are not called as their spec says, and for damage of the file.

    Exit code 1 where something is wrong and stays so. Mending forgets runs that cannot be read.
    """
    opened = Store(store)
    with opened.writing() if mend else nullcontext():
        found = list(problems(opened))
        left = [one for one in found if not mend or one.mend is None]
        for one in found:
            print(plain(f"{one.where}: {one.what}{'' if one in left else '  (mended)'}"))
            if one not in left and one.mend is not None:
                one.mend()
    print(f"{store}: {len(found)} problem{'s' * (len(found) != 1)}, {len(left)} left")
    return 1 if left else 0
