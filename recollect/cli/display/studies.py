"""`recollect list studies`: what each asks, and what it takes at each scale."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from recollect.claims import CLAIMS
from recollect.cli.display.board import duration
from recollect.studies import DESIGNS, STUDIES, Study


def studies_list(*, long: bool = False) -> Group:
    """Every study: its question and claims, below it a line of its scales, or one for each."""
    below = costs if long else brief
    return Group(*(part for study in STUDIES.values() for part in (heading(study, long=long), below(study))))


def heading(study: Study, *, long: bool) -> Text:
    """Name, question (its first paragraph, or all of it), and the claims that it judges."""
    numbers = ", ".join(str(claim.number) for claim in CLAIMS.values() if claim.study == study.name)
    claims = f" (claim{'s' * (',' in numbers)} {numbers})" if numbers else ""
    question = study.question if long else study.question.partition("\n\n")[0]
    return Text.assemble((study.name, "bold"), f"  {question}{claims}")


def brief(study: Study) -> Text:
    """Runs and time at every scale."""
    told = []
    for scale in study.scales:
        time = f", {duration(60 * study.minutes[scale])}" if scale in study.minutes else ""
        told.append(f"{scale} {study.runs(scale)[0]:,} runs{time}")
    return Text(f"  {'; '.join(told)}", "dim")


def costs(study: Study) -> Table:
    """Scale, runs and how they get their learning rates, time, and what it leaves out."""
    table = Table.grid(padding=(0, 2))
    for column in range(4):
        table.add_column(no_wrap=column < 3, style="dim" if column == 3 else "")
    for name in study.scales:
        usual, most = study.runs(name)
        runs = f"{usual:,} runs" + f" (at most {most:,})" * (most > usual) + f", {DESIGNS[study.scales[name].design]}"
        table.add_row(f"  {name}", runs, time_of(study, name), Text(study.note(name)))
    table.add_row()
    return table


def time_of(study: Study, scale: str) -> str:
    """What it takes; where nobody will wait for two cores, counting needs torch, which is not loaded here."""
    if scale == "smoke":
        return "seconds"
    if scale in study.minutes:
        return f"about {duration(60 * study.minutes[scale])} on 2 cores"
    return "GPU-hours, by --dry-run"
