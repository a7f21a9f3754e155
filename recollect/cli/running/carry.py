"""Train or search what was chosen, while the user watches."""

from contextlib import closing

from recollect.cli.display.searching import search_cells
from recollect.cli.display.watch import preflight_here, refuse, train_cases
from recollect.cli.running.choose import missing
from recollect.cli.running.draw import draw
from recollect.cli.running.order import Order
from recollect.spec.watch import Watch
from recollect.store import Store
from recollect.studies import Case, Design
from recollect.sweep.searching import Cells, Searching, stored
from recollect.training.costs import check_memory
from recollect.window import ComparedCell
from recollect.window.best import BestRate


def train(order: Order, chosen: list[Case], design: Design, limit: int | None, watch: Watch | None) -> int:
    """Train what is missing of the chosen runs."""
    todo, how = missing(chosen, order.store, watch), order.how
    if limit is not None:
        left_out = {case.spec.id for case in todo[limit:]}
        chosen, todo = [case for case in chosen if case.spec.id not in left_out], todo[:limit]
    specs = [case.spec for case in todo]
    if order.dry_run:
        from recollect.cli.display.dry import report

        refuse(specs)
        count = len(chosen)
        if design == "best" and limit is None:
            plan, cells = BestRate([case.spec for case in chosen]), order.what.tuned(chosen, None)
            known = stored(order.store, Searching(order.what.name, order.what.scale, cells))
            ahead = {spec.id for spec in plan.left(known)}
            count, todo = plan.count(known), [case for case in chosen if case.spec.id in ahead]
        report(order.what, chosen, todo, order.store, how.at_once(specs), count)
        return 0
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, order.choice)
    with how.logs(order.store) as logs, closing(how.make(specs)) as executor:
        opened = Store(order.store, create=True)
        bad = train_cases(order.what, chosen, todo, opened, executor, design, watch, logs)
    draw(order, opened)
    return 1 if bad else 0


def search(order: Order, every: Cells, chosen: list[Case]) -> int:
    """The same by search: the windows of the cells that were chosen, then the seeds at their best rates.

    What a chosen cell is compared with comes along: without it, how long to search and what it changes are not known.
    """
    names = {case.spec.cell for case in chosen}
    names |= {
        cell.reference.spec.cell for _, cell in every if isinstance(cell, ComparedCell) and cell.spec.cell in names
    }
    cells = [(label, cell) for label, cell in every if cell.spec.cell in names]
    what, how, specs = order.what, order.how, [cell.spec for _, cell in cells]
    searching = Searching(what.name, what.scale, cells, whole=True, every=every)
    known = stored(order.store, searching)
    if order.dry_run:
        from recollect.cli.display.dry import report_search

        refuse(specs)
        report_search(what, searching, known, order.store, how.at_once(specs))
        return 0
    check_memory(specs, how.force)
    preflight_here(specs, how.elsewhere, order.choice)
    wanted = any(cell.next(known, []) for _, cell in cells)
    with how.logs(order.store) as logs, closing(how.make(specs if wanted else [])) as executor:
        opened = Store(order.store, create=True)
        bad = search_cells(searching, opened, executor, logs)
    draw(order, opened)
    return 1 if bad else 0
