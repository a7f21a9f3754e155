"""What was asked for: a study of ours or a file, and whether it can be done at all."""

from dataclasses import dataclass, replace
from pathlib import Path

from recollect.cli.options.executor import How
from recollect.cli.options.figure import Printed
from recollect.errors import BadInput
from recollect.studies import DESIGNS, STUDIES, Changes, Design, Study
from recollect.sweep.files import read_sweep
from recollect.sweep.named import Sweep

ENDINGS = (".py", ".yaml", ".yml")


@dataclass(frozen=True)
class Order:
    """What was asked for: the runs of a study or a file, by whom, from where to where."""

    study: Study | None
    what: Sweep
    how: How
    store: Path
    out: Path
    printed: Printed
    choice: str
    dry_run: bool


def find(study: str, scale: str | None, changes: Changes, design: Design | None) -> tuple[Study | None, Sweep, Design]:
    """A study of ours with its runs, or the runs of a file; and how its cells get their learning rates."""
    if study.endswith(ENDINGS):
        if changes:
            raise BadInput(f"run {study}: --set, --mixers, --widths, --lrs and --seeds change a study; edit the file")
        what, designed = read_sweep(Path(study), scale), design or "every"
        named = f"{what.scale} ({DESIGNS[designed]})".strip() if designed != "every" else what.scale
        return None, replace(what, scale=named), designed
    found, chosen = STUDIES.find(study), scale or "laptop"
    sized = found.sized(chosen, changes)
    designed = design or sized.design
    cases = found.cases(chosen, changes)
    return found, Sweep(found.name, found.called(chosen, changes, designed), cases, sized.span), designed


def check_print(study: Study | None, printed: Printed, name: str) -> None:
    """Refuse a wish that a study's figure cannot fulfil; the figure's code is loaded only where there is a wish."""
    if printed == Printed():
        return
    if study is None:
        raise BadInput(f"run {name}: a sweep file has no figure to print; `recollect report` draws its runs")
    from recollect.report.figures import FIGURES

    FIGURES.find(study.figure).check(printed.read().panels)


def check_counts(design: Design, limit: int | None, max_runs: int | None) -> None:
    """Refuse numbers that cannot be meant."""
    if limit is not None and limit < 0:
        raise BadInput(f"--limit: must be 0 or more (got {limit})")
    if limit is not None and design == "window":
        raise BadInput("--limit: a search does not know its runs beforehand; --max-runs bounds those of each cell")
    if max_runs is not None and design != "window":
        raise BadInput(f"--max-runs is for --design window (got --design {design})")
    if max_runs is not None and max_runs < 1:
        raise BadInput(f"--max-runs: must be at least 1 (got {max_runs})")
