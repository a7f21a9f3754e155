"""Numbers in YAML are numbers, in files and on the command line."""

from pathlib import Path

import pytest

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


def test_a_value_too_deep_is_a_sentence() -> None:
    with pytest.raises(BadInput, match="cannot read the value"):
        read_sets((f"x={'[' * 3000}",))
