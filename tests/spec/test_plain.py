"""Numbers in YAML are numbers and words are words, in files and on the command line."""

from pathlib import Path

import pytest

from recollect import make_spec
from recollect.cli.options import read_sets
from recollect.cli.options.vary import read_vary
from recollect.errors import BadInput
from recollect.spec.files import read_mapping


@pytest.mark.parametrize("text", ["1e-3", "1E-3", "1.e-3", "+1e-3", "0.001", ".1e-2"])
def test_a_number_with_an_exponent_is_a_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "spec.yaml").write_text(f"x: {text}\n")
    assert read_mapping(tmp_path / "spec.yaml", "x: 1") == {"x": 0.001}
    assert read_sets((f"model.mixer.decay={text}",)) == {"model.mixer.decay": 0.001}
    assert read_vary(f"x={text},2").values == (0.001, 2)


def test_what_is_no_number_stays_text() -> None:
    texts = ("e3", "1e", "1e-", "sha256 12e4f", "1e3x", "bias 0")
    assert read_sets(tuple(f"x{i}={text}" for i, text in enumerate(texts))) == {
        f"x{i}": text for i, text in enumerate(texts)
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("off", "off"), ("no", "no"), ("y", "y"), ("1:30", "1:30"), ("2026-01-02", "2026-01-02"), ("0x1F", "0x1F")),
        *(
            ("042", 42),
            ("-7", -7),
            ("2.", 2.0),
            ("true", True),
            ("False", False),
            ("null", None),
            ("~", None),
            ("", None),
        ),
    ],
)
def test_a_word_means_what_it_says(tmp_path: Path, text: str, value: object) -> None:
    (tmp_path / "spec.yaml").write_text(f"x: {text}\n")
    for found in (read_mapping(tmp_path / "spec.yaml", "x: 1")["x"], read_sets((f"x={text}",))["x"]):
        assert (type(found), found) == (type(value), value)


def test_a_switch_may_be_off() -> None:
    spec = make_spec("mqar", "mamba", read_sets(("model.mixer.gate=off", "seed=042")))
    assert (getattr(spec.model.mixer, "gate", None), spec.seed) == (False, 42)


def test_a_value_too_deep_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="cannot read the value"):
        read_sets((f"x={'[' * 3000}",))
