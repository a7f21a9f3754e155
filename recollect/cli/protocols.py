"""`recollect protocols`: the presets, and how two of them differ."""

import sys

from cyclopts import App
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recollect.spec.protocols import PROTOCOLS

app = App(name="protocols", help="Show the presets of how to train, or how two of them differ.")


@app.default
def show(name: str | None = None, /) -> None:
    """List the protocols, or every field of one.

    Parameters
    ----------
    name
        paper, paper-workshop, zoology or laptop.
    """
    if name is None:
        for protocol in PROTOCOLS.values():
            print(f"{protocol.name}: {protocol.about}")
        return
    for key, value in PROTOCOLS.find(name).rows().items():
        print(f"{key} = {value}")


@app.command
def diff(one: str, other: str, /) -> None:
    """Show every field in which two protocols differ.

    Parameters
    ----------
    one
        A protocol's name.
    other
        Another one's.
    """
    left, right = PROTOCOLS.find(one).rows(), PROTOCOLS.find(other).rows()
    table = Table("field", one, other, box=None, pad_edge=False)
    for key in dict.fromkeys([*left, *right]):
        if left.get(key) != right.get(key):
            table.add_row(*map(escape, (key, left.get(key, "-"), right.get(key, "-"))))
    Console(highlight=False, soft_wrap=not sys.stdout.isatty()).print(table)
