"""`recollect probe`, and `--probe`: what they write, and one sentence for what cannot be looked into."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import recollect
from recollect.cli import main
from recollect.errors import BadInput
from recollect.spec import RunSpec
from recollect.spec.files import WEIGHTS
from recollect.store import Store
from tests.support.small import TINY, tiny

LAYER = {"kind", "note", "scores", "before", "heads", "identity", "length", "fades", "decays", "forgets", "matrices"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of Mamba, one of an LSTM and one of strings."""
    path = tmp_path_factory.mktemp("probe") / "recollect.db"
    for spec in (MAMBA, LSTM, STRINGS):
        recollect.run(spec, path)
    return path


MAMBA, LSTM = tiny("mamba", model__n_layers=2), tiny("lstm")
STRINGS = tiny(task="copy", task__max_length=8, task__context=40)


def called(*words: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(words))
    return int(end.value.code or 0)


def test_a_run_is_looked_into(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "probes"
    assert called("probe", MAMBA.id[:6], "--store", str(kept), "--out", str(out), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["run"] == MAMBA.id
    assert [set(layer) for layer in found["layers"]] == [LAYER, LAYER]
    assert found["layers"][1]["kind"] == "mixing"
    assert found["layers"][1]["note"].startswith("shares of absolute mass")
    assert found["layers"][1]["identity"] < 1e-4
    assert len(found["layers"][0]["heads"]["induction"]) == 16
    assert len(found["taps"]["0 conv"]) == 4
    assert set(found["ladder"]) == {"ln V", "ln(V/2)", "ln K", "position only", "0"}
    assert {file.name for file in out.iterdir()} == {
        f"{MAMBA.id}{ending}"
        for ending in (".json", "-matrices.png", "-matrices.pdf", "-fades.png", "-fades.pdf")
    }  # fmt: skip
    assert json.loads((out / f"{MAMBA.id}.json").read_text()) == found
    assert set(found["row"]) == {"tokens", "keys", "values", "queries"}
    assert all(np.shape(M) == (8, 8) for M in found["layers"][1]["matrices"].values())
    assert found["interchange"]["ratios"] == {}  # after 12 steps nothing is recalled


def test_words_say_what_was_seen(kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called("probe", MAMBA.id, "--store", str(kept), "--out", str(tmp_path), "--rows", "2") == 0
    said = capsys.readouterr().out
    for words in ("shares of absolute mass", "decays, quantiles", "too little to be followed", "plateaus, by steps:"):
        assert words in said


def test_the_phases_of_any_run_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Path(__file__).parents[2] / "results/laptop-split/recollect.db"
    run = next(one for one in Store(kept).records() if one.outcome == "solved" and one.spec.task.name == "mqar")
    assert called("show", run.id, "--store", str(kept)) == 0
    said = capsys.readouterr().out
    assert re.search(r"loss: \d\.\d\d to 0\.\d\d, t10 \d+, t50 \d+, t90 \d+", said)
    assert "lags, half-way to half-way: loss to accuracy" in said


def test_a_diverged_run_is_one_sentence_and_does_not_spoil_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "a.db", tmp_path / "out"
    spec = tiny(train__lr=1e6)
    assert called(*words(spec), "--set", "train.lr=1e6", "--probe", "--store", str(path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["outcome"] == "diverged"
    assert called("probe", found["id"], "--store", str(path), "--out", str(out)) == 2
    assert "weights are not finite" in capsys.readouterr().err
    assert not out.exists()
    assert called("report", "--store", str(path), "--out", str(out)) == 0


def test_what_is_no_matrix_is_called_a_gradient(kept: Path) -> None:
    found = recollect.probe(LSTM.id, kept, rows=3)
    (layer,) = found.after.layers
    assert layer.kind == "gradient"
    assert len(recollect.probe(MAMBA.id, kept, rows=1, heads=99).after.layers[0].matrices) == 16  # every channel's
    for few in ({"rows": 0}, {"heads": 0}):
        with pytest.raises(BadInput, match=r"probe: (rows|heads) must be at least 1 \(got 0\)"):
            recollect.probe(MAMBA.id, kept, **few)
    assert layer.decays == {}
    assert len(found.rows.batch) == 3
    assert 0 < layer.scores["induction"].together < 1


def test_what_cannot_be_looked_into_is_one_sentence(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^run: no run in .* begins with 'ffff'"):
        recollect.probe("ffff", kept)
    with pytest.raises(BadInput, match=r"^task copy: its rows have no keys and values"):
        recollect.probe(STRINGS.id, kept)
    store = Store(tmp_path / "other.db", create=True)
    store.add([MAMBA])
    with pytest.raises(BadInput, match=rf"^run {MAMBA.id}: no weights at .* \(status pending\)"):
        recollect.probe(MAMBA.id, store.path)
    recollect.run(LSTM, store.path)
    (store.folder(LSTM.id) / WEIGHTS).unlink()
    with pytest.raises(BadInput, match=rf"^run {LSTM.id}: no weights at .* \(status done\)"):
        recollect.probe(LSTM.id, store.path)


def words(spec: RunSpec) -> list[str]:
    """A run as `recollect train` takes it."""
    sets = [word for name, value in TINY.items() for word in ("--set", f"{name}={'null' if value is None else value}")]
    return ["train", spec.task.name, spec.model.mixer_name, "--protocol", "laptop-split", *sets]


def test_training_with_probe_keeps_what_was_seen_and_trains_a_finished_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, results = tmp_path / "a.db", []
    for extra in ([], ["--probe"], []):
        assert called(*words(tiny()), "--store", str(path), "--json", *extra) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert results[0] == results[1] == results[2]
    assert min(Store(path).looked()[tiny().id]) == 0


def test_strings_are_refused_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.db"
    assert called("train", "copy", "attention", "--probe", "--store", str(path)) == 2
    assert "its rows have no keys and values" in capsys.readouterr().err
    assert not path.exists()
