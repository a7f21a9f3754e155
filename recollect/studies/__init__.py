"""Studies: one file a question. A file is registered by its name; its docstring asks the question."""

from dataclasses import replace
from importlib import import_module

from recollect.spec.registry import Registry
from recollect.studies.changes import Changes
from recollect.studies.parts import DESIGNS, SCALES, Case, Design, Scale, Variant, runs_of
from recollect.studies.study import Study

FILES = (
    "demo",
    *("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig11", "fig12", "fig13"),
    *("table1", "table2", "table3", "table4"),
    *("conv", "confounders", "gap", "remedies", "map", "zoo", "inside", "compare"),
)


def read(name: str) -> Study:
    """The study of a file, called like it."""
    file = import_module(f"{__name__}.{name}")
    study: Study = file.STUDY
    return replace(study, name=name, question=(file.__doc__ or "").strip())


STUDIES = Registry("study", ((name, read(name)) for name in FILES))

__all__ = ["DESIGNS", "SCALES", "STUDIES", "Case", "Changes", "Design", "Scale", "Study", "Variant", "runs_of"]
