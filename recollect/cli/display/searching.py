"""Searches of several cells while the user watches."""

from collections.abc import Sequence

from recollect.cli.display.board import Board
from recollect.cli.display.watch import describe_case, watched
from recollect.spec.events import Event, Started
from recollect.store import Store
from recollect.studies import Case
from recollect.sweep import RETRIES, Listener
from recollect.sweep.executors import Executor
from recollect.sweep.searching import Searching


def search_cells(searching: Searching, store: Store, executor: Executor, also: Sequence[Listener] = ()) -> int:
    """Run all searches to their ends, heard by others too; the number of runs that raised or were lost."""
    finished = searching.finished(store)
    before, most = len(searching.known(finished)), searching.most(finished)
    names: dict[str, str] = {}
    board = Board(names, before, RETRIES, total=most)
    at = f" at scale {searching.scale}" if searching.scale else ""
    cells = f"{len(searching.cells)} cell{'s' * (len(searching.cells) > 1)}"
    with watched(board, store, f"{searching.study}{at}: at most {most} runs in {cells}, {before} done") as hear:
        searching.run(store, executor, [_naming(searching, names), hear, *also])
    return board.bad()


def _naming(searching: Searching, names: dict[str, str]) -> Listener:
    """Give every run that starts its name on the board."""

    def listen(event: Event) -> None:
        if isinstance(event, Started) and event.spec is not None:
            names[event.run] = describe_case(Case(searching.by_cell[event.spec.cell][0], event.spec))

    return listen
