"""Studies: one file a question."""

from recollect.errors import unknown
from recollect.studies import demo
from recollect.studies.study import SCALES, Case, Study

STUDIES = {study.name: study for study in (demo.STUDY,)}


def find_study(name: str) -> Study:
    """A study by its name."""
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    return STUDIES[name]


__all__ = ["SCALES", "STUDIES", "Case", "Study", "find_study"]
