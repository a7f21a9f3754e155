"""How figures are printed: options of every command that draws one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from recollect.report.layout import Print


@Parameter(name="*")
@dataclass(frozen=True)
class Printed:
    """Inches, what stands around the panels, which panels, whose style."""

    width: Annotated[float | None, Parameter(help="inches of the figure; 3.25 is a column of two (5.5)")] = None
    height: Annotated[float | None, Parameter(help="inches of the figure; by default as it needs")] = None
    title: Annotated[bool, Parameter(negative="--no-title", help="the title above it")] = True
    note: Annotated[bool, Parameter(negative="--no-note", help="the small print below it")] = True
    panel: Annotated[
        tuple[str, ...],
        Parameter(consume_multiple=True, negative=(), help="only these: main, window, outcomes, ... (docs/figures.md)"),
    ] = ()
    style: Annotated[
        tuple[str, ...],
        Parameter(consume_multiple=True, negative=(), help="matplotlib style sheets to lay over ours, files or names"),
    ] = ()

    def read(self) -> "Print":
        """As the report takes them."""
        from recollect.report.layout import PAPER, Print

        width = PAPER.width if self.width is None else self.width
        found = Print(width, self.height, self.title, self.note, self.panel, self.style)
        found.check()
        return found
