"""What the runs came to."""

from recollect.cli.display.console import console
from recollect.cli.options import print_figure
from recollect.cli.running.order import Order
from recollect.store import Contents, Store


def draw(order: Order, store: Store) -> None:
    """Of a study: what the paper's claims on it come to, its figure, and the page of the whole store."""
    if (study := order.study) is None:
        return
    from recollect.claims import CLAIMS, OWN, ledger
    from recollect.cli.claims import print_verdicts
    from recollect.cli.display.effects import effects_table
    from recollect.cli.report import claim_rows
    from recollect.report import draw_study
    from recollect.report.effects import study_effects
    from recollect.report.kind import Runs
    from recollect.report.write import write_report

    contents, scale = Contents(store), order.what.scale
    for claims in (CLAIMS, OWN):
        found = ledger(contents, studies=(study.name,), claims=claims)
        print_verdicts([one for one in found if one.evidence.scale == scale], long=True)
    if study.figure == "effects":
        for title, runs in Runs.of(contents.labelled(study.name, scale), scale).by_size().items():
            console().print(*([title] if title else []), effects_table(study_effects(runs)))
    print_figure(draw_study(study, scale, contents, order.out, order.printed.read()))
    (page,) = write_report(contents, order.out, ("html",), claims=claim_rows(ledger(contents)))
    print(f"report: {page}")
