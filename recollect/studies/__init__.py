"""Studies: one file a question."""

from importlib import import_module

from recollect.errors import unknown
from recollect.studies.study import CHANGED, SCALES, Case, Changes, Scale, Study, Variant

NAMES = (
    "demo",
    *("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig11", "fig12", "fig13"),
    *("table1", "table2", "table3", "table4"),
    *("conv", "confounders"),
)
STUDIES: dict[str, Study] = {name: import_module(f"recollect.studies.{name}").STUDY for name in NAMES}


def find_study(name: str) -> Study:
    """A study by its name."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    return STUDIES[name]


__all__ = ["CHANGED", "SCALES", "STUDIES", "Case", "Changes", "Scale", "Study", "Variant", "find_study"]
