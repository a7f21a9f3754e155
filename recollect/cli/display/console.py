"""Where output goes: how wide it is, decided here alone, and that no text is taken for markup."""

import os
import shutil
import sys
import textwrap
from typing import TextIO

from rich.console import Console

WIDEST = 120
"""Columns of what goes to a file or to another program, at most."""


class Out(Console):
    """Leaves it to the program's end what happens when nobody reads on."""

    def on_broken_pipe(self) -> None:
        """As `print` does; rich would end with code 1."""
        raise BrokenPipeError


def width() -> int:
    """The terminal's columns; where there is none, those that $COLUMNS asks for, at most so many."""
    if is_terminal(sys.stdout):
        return shutil.get_terminal_size().columns
    asked = os.environ.get("COLUMNS", "")
    return min(int(asked), WIDEST) if asked.isdecimal() and int(asked) else WIDEST


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody reads along; a program may be started with its output closed."""
    return stream is not None and stream.isatty()


def console(*, stderr: bool = False) -> Console:
    """Prints text as it stands: `file.py:M:` of a user is no emoji, `[k]` no style. Styles are given as `Text`."""
    stream = sys.stderr if stderr else sys.stdout
    columns = None if is_terminal(stream) else width()
    return Out(stderr=stderr, highlight=False, markup=False, emoji=False, width=columns, soft_wrap=stderr)


def tell(*lines: str, stderr: bool = False) -> None:
    """Print lines; one that is too long goes on in the next, indented. No word is cut: a path can be copied."""
    for line in (line for text in lines for line in text.splitlines() or [""]):
        print(line if len(line) <= width() else wrapped(line), file=sys.stderr if stderr else sys.stdout)


def wrapped(line: str) -> str:
    """A line as several, all but the first indented by two more."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(
        line, max(20, width()), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
