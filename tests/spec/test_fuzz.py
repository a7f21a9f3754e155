"""A fuzz target for specs and sweep files: whatever they hold, it is a spec that keeps its id, or one sentence."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from recollect.errors import BadInput
from recollect.spec import MIXERS, TASKS, RunSpec
from recollect.spec.compose import flatten, make_spec
from recollect.spec.protocols import PROTOCOLS
from recollect.sweep.files import read_sweep
from recollect.sweep.grids import KEYS
from tests.support.small import tiny

EXAMPLES = [60, pytest.param(4000, marks=pytest.mark.prove)]
FIELDS = sorted(
    {key for mixer in ("attention", "mamba", "hyena") for key in flatten(tiny(mixer).model_dump(mode="json"))}
)
WORDS = st.sampled_from(
    [*FIELDS, *KEYS, *MIXERS, *TASKS, *PROTOCOLS, "log", "n", "none", "split", "cpu", "loop", "bf16"]
)
NUMBERS = st.integers() | st.floats() | st.integers(0, 70) | st.sampled_from([0.5, 1e-3, 2**63, -1])
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | WORDS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=4), inner, max_size=3)
)
MAPPINGS = st.dictionaries(WORDS, VALUES, max_size=4)
LENIENT = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def sound(spec: RunSpec) -> None:
    """It reads back as itself, under the same name."""
    again = RunSpec.model_validate_json(spec.to_json())
    assert (again, again.id, again.cell) == (spec, spec.id, spec.cell)


@pytest.mark.parametrize("examples", EXAMPLES)
def test_any_fields_make_a_spec_or_a_sentence(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=LENIENT)
    @given(st.sampled_from([*TASKS, "nothing"]), WORDS, MAPPINGS, st.sampled_from([*PROTOCOLS]))
    def fields(task: str, mixer: str, given: dict[str, Any], protocol: str) -> None:
        with suppress(BadInput):
            sound(make_spec(task, mixer, flatten(given), protocol=protocol))

    fields()


@pytest.mark.parametrize("examples", EXAMPLES)
def test_any_value_in_a_sound_spec_is_a_spec_or_refused(examples: int) -> None:
    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=LENIENT)
    @given(st.sampled_from(FIELDS), VALUES)
    def value(field: str, given: Any) -> None:
        plain = tiny("mamba" if "mixer" in field else "attention").model_dump(mode="json")
        *rooms, last = field.split(".")
        inner: Any = plain
        for room in rooms:
            inner = inner[room]
        inner[last] = given
        with suppress(ValidationError):
            sound(RunSpec.model_validate(plain))

    value()


@pytest.mark.parametrize("examples", EXAMPLES)
def test_any_sweep_file_is_a_sweep_or_a_sentence(examples: int, tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    start: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {"task": "mqar", "mixer": "attention"}])

    @settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=LENIENT)
    @given(start, MAPPINGS, st.text(max_size=3))
    def sweep(sure: dict[str, Any], more: dict[str, Any], tail: str) -> None:
        file.write_text(yaml.safe_dump(more | sure) + tail, encoding="utf-8", errors="replace")
        with suppress(BadInput):
            for case in read_sweep(file).cases[:3]:
                sound(case.spec)

    sweep()
