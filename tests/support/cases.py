"""The cases of a study, thousands at the paper's scale, made once for all tests that look at them."""

from functools import cache

from recollect.studies import STUDIES, Case


@cache
def all_cases(name: str, scale: str) -> list[Case]:
    """As the study makes them."""
    return STUDIES[name].cases(scale)
