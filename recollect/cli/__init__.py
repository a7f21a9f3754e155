"""The command line: one thin function a command. Nothing here imports torch before a command needs it."""

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Group, UnusedCliTokensError

from recollect.cli.display.console import console
from recollect.errors import BadInput, plain

TRAIN, LOOK, KEEP, REST = map(
    Group.create_ordered, ("Train and measure", "Look at results", "Look up and keep", "Options")
)
COMMANDS = {
    "train": ("train:train", TRAIN, "Train one model and keep its record."),
    "window": ("window:window", TRAIN, "Find the range of learning rates in which a model learns, with few runs."),
    "compare": ("compare:compare", TRAIN, "Put your mixer beside others: window, accuracy, speed; a table, a figure."),
    "run": ("run:run", TRAIN, "Run a study or a sweep file: train what is missing, draw its figure."),
    "status": ("status:status", LOOK, "Show how far every study is."),
    "report": ("report:report", LOOK, "Draw a store: figures, tables, one page to browse."),
    "claims": ("claims:claims", LOOK, "Judge the paper's claims by what is in the store."),
    "show": ("show:show", LOOK, "Show one run (result, complete spec, where it ran), or one cell."),
    "diff": ("diff:diff", LOOK, "Show in which fields two runs differ."),
    "probe": ("probe:probe", LOOK, "Look into a finished run: what its positions read, where the answer passes."),
    "export": ("export:export", LOOK, "Write results as CSV, Parquet or JSON."),
    "list": ("list:list_", KEEP, "List tasks, mixers, protocols, studies, claims or runs."),
    "check": ("check:check", KEEP, "Check that a mixer keeps the contract."),
    "size": ("size:size", KEEP, "Count a model's parameters and state, or find the width for a budget."),
    "protocols": ("protocols:app", KEEP, "Show the presets of how to train, or how two differ."),
    "store": ("store:app", KEEP, "Merge stores, delete runs, check and mend."),
    "completion": ("completion:completion", KEEP, "Print a script that completes commands and names in a shell."),
}
"""Name -> where it is, under which heading it is listed, what it does."""


def build(asked: str) -> App:
    """The commands; only the one that is asked for is imported, and then its own docstring is its help."""
    app = App(
        name="recollect",
        help="""How well, and how reliably, does a sequence model learn to recall?

        Train a model: `recollect train mqar attention --lr 2e-3 --n-layers 2`

        Compare a mixer of yours: `recollect compare my.py:Mixer --dry-run`

        See what there is: `recollect list`""",
        version_flags=["--version"],
        group_commands=REST,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        console=console(),
    )
    for order, (name, (place, group, about)) in enumerate(COMMANDS.items()):
        told = None if name == asked else about
        app.command(f"recollect.cli.{place}", name=name, help=told, group=group, sort_key=order)
    return app


def trouble(error: BaseException) -> str:
    """What the machine refused, in one sentence that names the file where there is one."""
    if isinstance(error, MemoryError):
        return "not enough memory; ask for a smaller model, batch or number of workers"
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return f"the store cannot be used: {error}; `recollect store check` says more"


def say(text: str, longest: int = 288) -> None:
    """One sentence on one line, whatever a user's file, a library or the system put into it."""
    whole = plain(" ".join(text.split()))
    print(f"recollect: {whole if len(whole) <= longest else whole[: longest - 3] + '...'}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; bad input is one sentence and exit code 2."""
    for name in ("SIGTERM", "SIGHUP"):  # what a scheduler sends ends like Ctrl-C, with the sentence how to go on
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), signal.default_int_handler)
    words = [*(sys.argv[1:] if arguments is None else arguments)]  # `list` is a command here
    try:
        code = build(words[0] if words else "")(
            words, exit_on_error=False, print_error=False, error_console=console(stderr=True)
        )
    except UnusedCliTokensError as error:
        say(f"nothing here takes {', '.join(map(repr, error.unused_tokens or []))}; `--help` says what does")
        sys.exit(2)
    except (BadInput, CycloptsError) as error:
        say(str(error))
        sys.exit(2)
    except KeyboardInterrupt as stop:
        say(str(stop) or "stopped; the same command goes on from here", longest=2000)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said, at exit neither
        sys.exit(0)
    except (sqlite3.Error, OSError, MemoryError) as error:
        say(trouble(error))
        sys.exit(2)
    sys.exit(code if isinstance(code, int) else 0)
