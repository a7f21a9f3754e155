"""`recollect list studies`: what each asks, and what it takes at each scale."""

from rich.markup import escape
from rich.table import Table

from recollect.claims import CLAIMS
from recollect.cli.board import duration
from recollect.gpu import gpu_hours
from recollect.studies import STUDIES, Study


def studies_table() -> Table:
    """A row per study: question, claims, runs and time at each scale."""
    table = Table("study", "what it asks", "claims", "runs and time at each scale", box=None, pad_edge=False)
    for study in STUDIES.values():
        numbers = [str(claim.number) for claim in CLAIMS.values() if claim.study == study.name]
        table.add_row(study.name, study.question.strip(), ", ".join(numbers), costs(study), end_section=True)
    return table


def costs(study: Study) -> str:
    """A line per scale."""
    lines = []
    for name, scale in study.scales.items():
        cells, each = study.cells(name), len(scale.lrs) * len(scale.seeds)
        hours = f"{each * gpu_hours(cell.spec for cell in cells):,.0f} GPU-hours"
        time = f"{duration(60 * study.minutes[name])} on 2 cores" if name in study.minutes else hours
        about = "seconds" if name == "smoke" else f"about {time}"
        lines.append(f"{name}: {each * len(cells):,} runs, {about}\n  [dim]{escape(scale.note)}[/dim]")
    return "\n".join(lines)
