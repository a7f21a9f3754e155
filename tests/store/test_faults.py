"""A store on a bad day: no write access, damage, rows and names that nobody meant. One sentence, nothing lost."""

import os
import random
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import run
from recollect.cli import main
from recollect.errors import BadInput
from recollect.store import Contents, Store, merge
from recollect.store.check import problems
from tests.support.small import tiny

READING = (["status"], ["list", "runs"], ["claims", "1"], ["export", "--json"], ["store", "check"])
LONGEST = 300


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small store with two runs in a study."""
    file = tmp_path_factory.mktemp("sound") / "recollect.db"
    records = [run(tiny(seed=seed), store=file) for seed in (1, 2)]
    store = Store(file, create=True)
    with store.writing():
        store.link("demo", "smoke", {record.id: "attention" for record in records})
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return file


@pytest.fixture
def store(sound: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(sound, tmp_path / "recollect.db"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB, for root; others cannot mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder], check=False).returncode
    ):
        pytest.skip("only root may mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def call(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """A command in this process: exit code and what it says."""
    with pytest.raises(SystemExit) as end:
        main(words)
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out, captured.err


def one_sentence(code: int, errors: str) -> None:
    """Refused as it should be."""
    assert code == 2
    assert errors.startswith("recollect: ")
    assert errors.count("\n") == 1
    assert len(errors) <= LONGEST
    assert "Traceback" not in errors


def spoil(file: Path, change: str, *values: object) -> None:
    """Change the database behind the store's back."""
    with sqlite3.connect(file) as db:
        db.execute(change, values)
    db.close()


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_needs_no_write_access(
    sound: Path, small_disk: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    file = Path(shutil.copy(sound, small_disk / "recollect.db"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    code, out, errors = call(capsys, *words, "--store", str(file))
    assert (code, errors) == (0, "")
    assert out
    assert [one.name for one in small_disk.iterdir()] == ["recollect.db"]


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    sound: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(shutil.copy(sound, small_disk / "recollect.db"))
    (small_disk / "ballast").write_bytes(bytes(200 * 1024 - file.stat().st_size))
    sets = ["--set", "task.length=8", "--set", "task.n_pairs=2", "--set", "model.d_model=8", "--steps", "4"]
    code, _, errors = call(capsys, "train", "mqar", "attention", *sets, "--store", str(file))
    assert code in (1, 2)
    assert "Traceback" not in errors.replace("Traceback (most recent call last)", "", code == 1)
    assert len(Store(file).done()) >= 2


def test_truncation_at_every_page_is_readable_or_one_sentence(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = store.read_bytes()
    for size in range(4096, len(whole), 4096):
        store.write_bytes(whole[:size])
        code, _, errors = call(capsys, "list", "runs", "--store", str(store))
        if code:
            one_sentence(code, errors)


def test_two_hundred_flipped_bits_are_readable_or_one_sentence(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, dice = store.read_bytes(), random.Random(0)
    for _ in range(200):
        bad = bytearray(whole)
        bad[dice.randrange(100, len(whole))] ^= 1 << dice.randrange(8)
        store.write_bytes(bad)
        code, _, errors = call(capsys, "list", "runs", "--store", str(store))
        if code:
            one_sentence(code, errors)


def test_a_row_that_cannot_be_read_blocks_no_other(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = tiny(seed=1).id
    spoil(store, "UPDATE runs SET spec = replace(spec, '\"lr\":', '\"lr\":-') WHERE id = ?", lost)
    opened = Store(store)
    assert [record.id for record in opened.records()] == [tiny(seed=2).id]
    assert "train.lr" in opened.unreadable[lost]
    assert len(Contents(opened).labelled("demo", "smoke")) == 1
    out = call(capsys, "list", "runs", "--store", str(store))[1]
    assert f"{lost} cannot be read" in out
    one_sentence(*call(capsys, "show", lost, "--store", str(store))[::2])
    for words in (["status"], ["export", "--json"], ["claims", "1"]):
        assert call(capsys, *words, "--store", str(store))[0] == 0
    assert call(capsys, "store", "check", "--store", str(store))[0] == 1
    assert call(capsys, "store", "check", "--mend", "--store", str(store))[0] == 0
    assert list(problems(Store(store))) == []
    assert set(Store(store).statuses()) == {tiny(seed=2).id}


@pytest.mark.parametrize("later", ["'$.train.ema', 0.5", "'$.task.name', 'recall-2'", "'$.numerics', 99"])
def test_a_run_of_a_later_version_is_named_and_kept(
    store: Path, capsys: pytest.CaptureFixture[str], later: str, tmp_path: Path
) -> None:
    kept = tiny(seed=1).id
    spoil(store, f"UPDATE runs SET spec = json_set(spec, {later}) WHERE id = ?", kept)
    code, out, _ = call(capsys, "store", "check", "--mend", "--store", str(store))
    assert code == 1
    assert "perhaps of another version, so that it is kept" in " ".join(out.split())
    assert kept in Store(store).statuses()
    assert call(capsys, "report", "--format", "csv", "--out", str(tmp_path), "--store", str(store))[0] == 0


def test_a_link_that_leads_to_itself_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.db").symlink_to(tmp_path / "two.db")
    (tmp_path / "two.db").symlink_to(tmp_path / "one.db")
    for words in (["status"], ["train", "mqar", "attention"], ["report"]):
        one_sentence(*call(capsys, *words, "--store", str(tmp_path / "one.db"))[::2])


def test_an_export_does_not_overwrite_a_store(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = store.read_bytes()
    one_sentence(*call(capsys, "export", "--csv", str(store), "--store", str(store))[::2])
    one_sentence(*call(capsys, "store", "delete", "", "--store", str(store))[::2])
    assert store.read_bytes() == whole


def test_names_of_runs_are_no_paths(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside, name = tmp_path / "outside", "../outside"
    outside.mkdir()
    (outside / "kept").touch()
    spoil(store, "UPDATE runs SET id = ? WHERE id = ?", name, tiny(seed=1).id)
    source = Store(store)
    (source.files / "x").mkdir(parents=True)
    into = Store(tmp_path / "into.db", create=True)
    assert merge(into, store).new == 1
    assert set(into.statuses()) == {tiny(seed=2).id}
    with pytest.raises(BadInput, match="which no spec gives"):
        source.folder(name)
    call(capsys, "store", "delete", name, "--store", str(store))
    assert (outside / "kept").exists()
    assert name not in Store(store).statuses()


def test_names_of_studies_are_no_paths(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = Store(store)
    with opened.writing():
        for name in ("../../x", "a/b", "n" * 300, "cells"):
            opened.link(name, "", {tiny(seed=1).id: "\x1b[31mred"})
    out = tmp_path / "deep" / "out"
    assert call(capsys, "report", "--store", str(store), "--out", str(out), "--format", "csv", "html")[0] == 0
    assert {file.parent for file in tmp_path.rglob("*.csv")} == {out}
    assert len(list(out.glob("*.csv"))) == 6


def test_text_of_a_store_steers_no_terminal(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape codes in every text that a stranger may have written, seen by every command that reads."""
    red, first, second = "\x1b[31mred\x07\x9b", tiny(seed=1).id, tiny(seed=2).id
    opened = Store(store, create=True)
    with opened.writing():
        opened.link(red, red, {first: red, second: red})
        opened.start(second, {"host": red, red: 1})
        opened.fail(second, f"{red}\n{red}")
        opened.db.execute("UPDATE runs SET outcome = ? WHERE id = ?", (red, first))
        opened.db.execute("UPDATE runs SET result = json_set(result, '$.outcome', ?, '$.stopped', ?)", (red, red))
        opened.db.execute(
            "INSERT INTO runs (id, cell, spec, status, created, updated) VALUES (?, '', ?, ?, 0, 0)", [red] * 3
        )
    opened.close()
    (tmp_path / f"{store.name}.writer").write_text(red)
    reading = (*READING, ["show", first], ["show", second], ["diff", first, second], ["show", red], ["claims"])
    asked = (*reading, ["report", "--out", str(tmp_path / "out")], ["report", "--study", "y"], ["export", "--curves"])
    for words in (*asked, ["store", "check", "--mend"], ["store", "delete", red], ["status", "--json"]):
        _, out, error = call(capsys, *words, "--store", str(store))
        assert not set(out + error) & {"\x1b", "\x07", "\x9b"}, words
    assert "red" in call(capsys, "status", "--store", str(store))[1]


def test_stores_of_other_endings_have_files_of_their_own(tmp_path: Path) -> None:
    folders = [Store(tmp_path / name, create=True).files for name in ("a.db", "a.sqlite", "a")]
    assert [folder.name for folder in folders] == ["a.files", "a.sqlite-files", "a-files"]


def test_no_unvalidated_spec_reaches_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--lrs", "0"], ["--seeds", "-1"], ["--lrs", "nan"], ["--widths", "0"]):
        found = call(capsys, "run", "demo", "--scale", "smoke", *words, "--store", str(tmp_path / "none.db"))
        one_sentence(*found[::2])
    assert not list(tmp_path.iterdir())


ALTERED = {
    "no time": "seconds = NULL",
    "an endless time": "seconds = 9e999",
    "an endless accuracy": 'result = replace(result, \'"test_accuracy":\', \'"test_accuracy": 9e999, "x":\')',
    "no accuracy": "result = json_set(result, '$.test_accuracy', NULL)",
    "no number of parameters": "result = json_remove(result, '$.n_params')",
    "a floor that is text": "result = json_set(result, '$.floors', json('{\"x\": \"y\"}'))",
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED)
def test_a_finished_run_with_what_none_has_written_is_found(
    store: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    run = tiny(seed=1).id
    spoil(store, f"UPDATE runs SET {change} WHERE id = ?", run)
    one_sentence(*call(capsys, "show", run, "--store", str(store))[::2])
    assert [problem.where for problem in problems(Store(store))] == [f"run '{run}'"]
    assert "Infinity" not in call(capsys, "export", "--json", "--store", str(store))[1]


@pytest.mark.parametrize("value", ["'{}'", "9e999", "-9e999"])
def test_a_point_that_is_no_number_is_left_out_and_mended(
    store: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    opened = Store(store, create=True)
    before = opened.curves(tiny(seed=1).id)
    opened.db.execute(f"UPDATE points SET value = {value} WHERE run = ? AND step = 0", (tiny(seed=1).id,))
    assert opened.curves(tiny(seed=1).id)["validation_loss"] == before["validation_loss"][1:]
    assert [problem.what.split(maxsplit=1)[1] for problem in problems(opened)] == ["rows that are no numbers"]
    opened.close()
    assert call(capsys, "store", "check", "--mend", "--store", str(store))[0] == 0
    assert not list(problems(Store(store)))
