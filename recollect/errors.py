"""One clear sentence for bad input: where, what was given, what is allowed, the nearest name."""

import difflib
import textwrap
from collections.abc import Iterable

from pydantic import ValidationError

LIST = 160
"""Letters of a list of what is allowed; a sentence is for reading."""

MEMBERS = ("constrained-", "literal[")
"""What pydantic calls the alternatives of a field; no part of the field's name."""


class BadInput(ValueError):
    """The user's input cannot be used; the message is the sentence to show (exit code 2)."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """A closing `; did you mean ...?`, or the list of what is allowed."""
    names = sorted(allowed)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; allowed: {textwrap.shorten(', '.join(names), LIST, placeholder=' ...')}"


def unknown(where: str, name: str, allowed: Iterable[str]) -> BadInput:
    """The sentence for a name that does not exist."""
    return BadInput(f"{where}: unknown name '{name}'{nearest(name, allowed)}")


def sentence(error: ValidationError, where: str) -> BadInput:
    """The first problem that pydantic found, as one sentence with its dotted field."""
    problem = error.errors()[0]
    parts = [str(part) for part in problem["loc"] if not str(part).startswith(MEMBERS)]
    path = ".".join(part for i, part in enumerate(parts) if not (i == 1 and parts[0] == "task"))
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    given = problem["input"]
    shown = "" if isinstance(given, dict) or path == "" else f" (got {given!r})"
    return BadInput(f"{where}: {path + ': ' if path else ''}{message[:1].lower()}{message[1:]}{shown}")


def plain(value: object) -> str:
    """Text that a stranger wrote, without the control characters with which it could steer a terminal."""
    return "".join(sign for sign in str(value) if sign.isprintable() or sign in "\n\t")
