"""The command line: one thin function a command. Nothing here imports torch before a command needs it."""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from rich.console import Console

from recollect.errors import BadInput

app = App(
    name="recollect",
    help="""How well, and how reliably, does a sequence model learn to recall?

    Start with `recollect train mqar attention --lr 2e-3`; `recollect list` shows what there is.""",
    version_flags=["--version"],
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
COMMANDS = {
    "train": ("train:train", "Train one model and keep its record."),
    "run": ("study:run", "Run a study or a sweep file: train what is missing, draw its figure."),
    "status": ("status:status", "Show how far every study is."),
    "list": ("look:list_", "List tasks, mixers, protocols, studies or runs."),
    "show": ("look:show", "Show one run (result, complete spec, where it ran), or one cell."),
    "diff": ("look:diff", "Show in which fields two runs differ."),
    "export": ("export:export", "Write results as CSV, Parquet or JSON."),
    "store": ("store:app", "Merge stores, delete runs."),
    "size": ("look:size", "Count a model's parameters and state."),
    "check": ("check:check", "Check that a mixer keeps the contract."),
    "protocols": ("protocols:app", "Show the presets of how to train, or how two differ."),
}
for _name, (_place, _help) in COMMANDS.items():
    app.command(f"recollect.cli.{_place}", name=_name, help=_help, sort_key=list(COMMANDS).index(_name))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; bad input is one sentence and exit code 2."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        code = app(arguments, exit_on_error=False, print_error=False, error_console=errors)
    except BadInput as error:
        errors.print(f"recollect: {error}", markup=False)
        sys.exit(2)
    except CycloptsError as error:
        errors.print(f"recollect: {' '.join(str(error).split())}", markup=False)
        sys.exit(2)
    except KeyboardInterrupt as stop:
        errors.print(f"recollect: {stop or 'stopped; the same command goes on from here'}", markup=False)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)
