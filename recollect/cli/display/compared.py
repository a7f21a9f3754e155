"""What `recollect compare` prints and writes."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.table import Table

from recollect.cli.display.console import console, tell
from recollect.cli.display.dry import print_costs
from recollect.cli.options import print_figure
from recollect.report.compare import in_words, latex, lines, measured, table
from recollect.report.figures import draw_runs, save
from recollect.report.layout import Print
from recollect.report.tables import markdown
from recollect.report.write import write_report
from recollect.spec import RunSpec
from recollect.store import Contents, Record
from recollect.sweep.comparison import NAME, Comparison

FORMATS = ("png", "pdf", "svg")


def explain(comparison: Comparison, stored: Sequence[Record], store: Path, workers: int, *, quiet: bool) -> bool:
    """Say what is there, what comes with recollect and how long the rest may take; whether there is a rest."""
    shipped, cells = comparison.shipped(), comparison.cells
    known = list({record.id: record for record in [*shipped, *stored]}.values())
    left: list[RunSpec] = []
    for _, cell in cells:
        missing = cell.most(known) - cell.spent(known, [])
        left += [cell.spec] * (missing if cell.next(known, []) or not cell.spent(known, []) else 0)
    if not quiet:
        models = "; ".join(comparison.wide)
        tell(f"compare ({models}): {len(cells)} cells, at most {len(left)} runs to do; {len(known)} are there")
        names = dict.fromkeys(label for label, cell in cells if cell.spec.cell in {record.cell for record in shipped})
        tell(f"runs that come with recollect: {'; '.join(names) or 'none of these models at these sizes'}")
        if left:
            print_costs(left, store, workers)
    return bool(left)


def show(comparison: Comparison, contents: Contents, out: Path, how: Print, *, quiet: bool) -> pd.DataFrame:
    """Measure the steps here, then write figure, tables and page, and print the table."""
    from recollect.training.burden import burdens

    labelled, costs = contents.labelled(NAME, comparison.scale), burdens(comparison.wide)
    found, kind = lines(labelled, costs), measured(costs)
    frame, printed = table(found), in_words(found)
    out.mkdir(parents=True, exist_ok=True)
    figure = draw_runs(kind, kind.runs(labelled, comparison.scale, "validation"), comparison.study.title, how)
    files = save(figure, out, NAME, FORMATS, how.style)
    (out / f"{NAME}.csv").write_text(frame.to_csv(index=False), encoding="utf-8")
    (out / f"{NAME}.md").write_text(markdown(printed), encoding="utf-8")
    (out / f"{NAME}.tex").write_text(latex(found), encoding="utf-8")
    (page,) = write_report(contents, out, ("html",))
    if not quiet:
        console().print(as_table(printed))
        tell("ms and MB: of a training step on this machine, one thread; MB are what its backward pass needs")
        print_figure(files)
        tell(f"table: {out / NAME}.csv (also md, tex)", f"report: {page}")
    return frame


def as_table(frame: pd.DataFrame) -> Table:
    """For the terminal."""
    out = Table(*frame.columns, box=None, pad_edge=False)
    for row in frame.itertuples(index=False):
        out.add_row(*map(str, row))
    return out
