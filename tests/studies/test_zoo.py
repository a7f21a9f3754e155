"""The zoo compares at equal state, and says whom it leaves out."""

from functools import partial

import pytest

from recollect.spec import MIXERS, RunSpec
from recollect.spec.compose import make_spec
from recollect.studies import STUDIES, Case
from recollect.studies.zoo import LEFT_OUT, STATE
from recollect.training.budget import Budget, fit_width
from recollect.training.model import sizes

CELLS = STUDIES["zoo"].cells("laptop")


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.label)
def test_a_layer_has_the_common_state(cell: Case) -> None:
    assert sizes(cell.spec)[1] == pytest.approx(cell.spec.model.n_layers * STATE, rel=0.06)


def test_every_mixer_is_there_or_would_need_more_than_four_times_the_width() -> None:
    assert {cell.spec.model.mixer_name for cell in CELLS} == set(MIXERS) - set(LEFT_OUT)
    for name in LEFT_OUT:
        made = partial(of_width, name)
        assert fit_width(Budget(STATE, 1, "zoo"), 8, made).model.d_model > 4 * 64


def of_width(mixer: str, width: int) -> RunSpec:
    """One layer."""
    return make_spec("mqar", mixer, {"model.n_layers": 1, "model.d_model": width})
