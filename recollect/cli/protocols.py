"""`recollect protocols`: the presets, and how two of them differ."""

from cyclopts import App
from rich.table import Table

from recollect.cli.display.console import console, tell
from recollect.cli.options.names import ProtocolName
from recollect.spec.protocols import PROTOCOLS

app = App(name="protocols", help="Show the presets of how to train, or how two of them differ.")


@app.default
def show(name: ProtocolName | None = None, /) -> None:
    """List the protocols, or every field of one.

    Parameters
    ----------
    name
        Its name; without one they are listed.
    """
    if name is None:
        for protocol in PROTOCOLS.values():
            tell(f"{protocol.name}: {protocol.about}")
        return
    for key, value in PROTOCOLS.find(name).rows().items():
        tell(f"{key} = {value}")


@app.command
def diff(one: ProtocolName, other: ProtocolName, /) -> None:
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
            table.add_row(key, left.get(key, "-"), right.get(key, "-"))
    console().print(table)
