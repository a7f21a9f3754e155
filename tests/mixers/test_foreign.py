"""A user's own mixer, from a file or a package, wherever a name is accepted."""

from pathlib import Path

import pytest
import torch

from recollect import run
from recollect.errors import BadInput
from recollect.mixers import Place, build_mixer
from recollect.report.note import note
from recollect.spec import mixer_options
from recollect.training.check import Trial, check_mixer, preflight
from recollect.training.execute import execute
from tests.support.places import ROOT
from tests.support.small import tiny

EXAMPLE = str(ROOT / "examples" / "my_mixer.py") + ":GatedAverage"

SOURCES = {
    "peeks": "def forward(self, x): return self.w(x.flip(1))",
    "forgets": "def forward(self, x): return self.w(x)",
    "shrinks": "def forward(self, x): return self.w(x)[:, :-1]",
    "raises": "def forward(self, x): raise RuntimeError('no')",
    "mixes_rows": "def forward(self, x): return self.w(x.cumsum(1) + x.mean(0))",
    "wanders": "def forward(self, x): return self.w(x.cumsum(1)) + torch.rand(())",
    "boasts": "def forward(self, x): return self.w(x.cumsum(1))\n\n    def state_size(self): return 8",
    "idles": "def forward(self, x): return self.w(x.cumsum(1))\n    unused = None",
}


def write(folder: Path, name: str, body: str, extra: str = "") -> str:
    """A file with one mixer class; its name for the command line."""
    file = folder / f"{name}.py"
    file.write_text(
        "import torch\nfrom torch import nn\n\n\nclass Mine(nn.Module):\n"
        "    def __init__(self, d_model):\n        super().__init__()\n        self.w = nn.Linear(d_model, d_model)\n"
        f"{extra}\n    {body}\n"
    )
    return f"{file}:Mine"


def broken(name: str) -> list[str]:
    """The clauses that a mixer breaks."""
    return [found.clause for found in check_mixer(mixer_options(name, {}), Place(16, 12)) if not found.holds]


def test_the_example_keeps_the_contract_and_trains() -> None:
    assert broken(EXAMPLE) == []
    record = run(tiny(EXAMPLE, **{"model__mixer.decay": 0.5}))
    assert record.status == "done"
    assert record.spec.model.mixers[0].model_extra == {"decay": 0.5}


CLAUSES = {
    "peeks": "causal",
    "forgets": "past",
    "shrinks": "shape",
    "raises": "shape",
    "mixes_rows": "rows",
    "wanders": "twice",
    "boasts": "state",
}


@pytest.mark.parametrize(("kind", "clause"), CLAUSES.items())
def test_the_check_names_what_is_broken(tmp_path: Path, kind: str, clause: str) -> None:
    assert any(clause in found for found in broken(write(tmp_path, kind, SOURCES[kind])))


def test_a_parameter_that_nothing_reaches_is_named(tmp_path: Path) -> None:
    name = write(tmp_path, "idles", SOURCES["idles"], "        self.idle = nn.Parameter(torch.ones(2))")
    seen = {finding.clause: finding.seen for finding in check_mixer(mixer_options(name, {}), Place(16, 12))}
    assert "idle" in seen["gives every parameter a finite gradient"]


def test_the_id_follows_the_source_and_not_the_folder(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    here.mkdir()
    there.mkdir()
    one, same = (tiny(write(folder, "mine", SOURCES["forgets"])) for folder in (here, there))
    assert one.id == same.id
    assert one.id != tiny(write(here, "mine", SOURCES["peeks"])).id


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    spec = tiny(write(tmp_path, "mine", SOURCES["forgets"]))
    write(tmp_path, "mine", SOURCES["peeks"])
    with pytest.raises(BadInput, match="has changed since"):
        preflight(spec)


def test_a_file_that_never_ends_or_leaves_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.spec.files.PATIENCE", 0.2)
    for text, expected in (
        ("while True: pass", "takes longer than 0.2 s"),
        ("exit()", "importing it raised SystemExit"),
    ):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(BadInput, match=expected):
            preflight(tiny(f"{tmp_path / 'mine.py'}:Mine"))


LOOKS_AHEAD = "def forward(self, x): return self.w(torch.cat([x[:, 1:], x[:, :1]], 1))"


def test_a_mixer_that_looks_ahead_is_refused_wherever_it_would_train(tmp_path: Path) -> None:
    spec = tiny(write(tmp_path, "peeks", LOOKS_AHEAD))
    with pytest.raises(BadInput, match="it looks ahead: outputs up to token 0 move by"):
        run(spec, store=tmp_path / "recollect.db")
    assert not (tmp_path / "recollect.db").exists()
    with pytest.raises(BadInput, match="it looks ahead"):
        next(execute(spec))
    allowed = tiny(write(tmp_path, "peeks", LOOKS_AHEAD), model__noncausal=True)
    assert allowed.id != spec.id
    record = run(allowed)
    assert record.is_done
    assert "with a mixer that looks ahead" in note([record], "")


def test_dropout_and_an_honest_fft_are_no_looking_ahead(tmp_path: Path) -> None:
    there = "n = 2 * x.shape[1]; y = torch.fft.irfft(torch.fft.rfft(x, n, 1), n, 1)[:, : n // 2]"
    body = f"def forward(self, x): {there}; return self.d(self.w(y))"
    name = write(tmp_path, "fft", body, "        self.d = nn.Dropout(0.5)")
    assert "is causal" not in broken(name)
    assert "treats the rows of a batch independently" not in broken(name)


def test_an_output_that_is_no_number_is_never_near_another() -> None:
    trial = Trial(build_mixer("attention", d_model=4), torch.ones(1, 2, 4), 1e-9)
    sound, wild = torch.ones(3), torch.tensor([1.0, torch.nan, 1.0])
    assert trial.gap(sound, sound) == 0
    assert trial.gap(wild, sound) == trial.gap(sound, wild) == torch.inf


def test_a_class_of_an_installed_package_works() -> None:
    options = mixer_options("torch.nn:Identity", {})
    assert options.model_dump()["source"] == f"version {torch.__version__}"
    assert build_mixer("torch.nn:Identity", d_model=4)(torch.ones(1, 2, 4)).shape == (1, 2, 4)


BAD = {
    "no file": ("nowhere.py:Mine", "no file 'nowhere.py'"),
    "no package": ("nowhere.at.all:Mine", "no installed package 'nowhere'"),
    "no class name": ("nowhere.py:", "names no class"),
    "no such class": ("{folder}/good.py:Mien", "did you mean 'Mine'"),
    "raises on import": ("{folder}/bad.py:Mine", "importing it raised ZeroDivisionError"),
    "unknown argument": ("{folder}/good.py:Mine", "unexpected keyword argument 'depth'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_sentence(tmp_path: Path, case: str) -> None:
    write(tmp_path, "good", SOURCES["forgets"])
    (tmp_path / "bad.py").write_text("1 / 0\n")
    name, expected = BAD[case]
    fields = {"model__mixer.depth": 3} if case == "unknown argument" else {}
    with pytest.raises(BadInput) as caught:
        preflight(tiny(name.format(folder=tmp_path), **fields))
    assert expected in str(caught.value)
