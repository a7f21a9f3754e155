"""Stores that a bad disk, a stranger or another version left, made from a sound one."""

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

READING: tuple[list[str], ...] = (
    ["status"],
    ["list", "runs"],
    ["claims", "1"],
    ["export", "--json"],
    ["store", "check"],
    ["show", "0"],
)
READING += (["report", "--format", "csv"], ["store", "merge"], ["diff", "0", "1"], ["export", "--curves", "--csv"])
TEXTS = ["", "{}", "[]", "null", "7", "{", "\x00", '{"task": 7}', "\x1b[31m", "x" * 5000, '{"curves": {}}', '"done"']
COLUMNS = {
    "runs": [
        "id",
        "cell",
        "spec",
        "status",
        "outcome",
        "attempt",
        "result",
        "error",
        "provenance",
        "seconds",
        "created",
    ],
    "points": ["run", "step", "name", "value"],
    "study_runs": ["study", "scale", "run", "label"],
}


def broken(sound: bytes, folder: Path, count: int, seed: int = 0) -> list[list[str]]:
    """So many command lines that read a store of their own, each broken in another way."""
    dice = random.Random(seed)
    makers: list[Callable[[random.Random, bytes, Path], None]] = [_cut, _flip, _write, _drop, _write, _mix]
    lines = []
    for i in range(count):
        file = folder / f"broken{i}.db"
        makers[i % len(makers)](dice, sound, file)
        words = dice.choice(READING)
        if words == ["store", "merge"]:
            lines.append([*words, str(folder / f"into{i}.db"), str(file)])
        else:
            lines.append(
                [*words, "--store", str(file), *(["--out", str(folder / "out")] if words[0] == "report" else [])]
            )
    return lines


def _cut(dice: random.Random, sound: bytes, file: Path) -> None:
    file.write_bytes(sound[: dice.randrange(len(sound))])


def _flip(dice: random.Random, sound: bytes, file: Path) -> None:
    damaged = bytearray(sound)
    for _ in range(dice.choice([1, 10, 100, 1000])):
        damaged[dice.randrange(len(damaged))] ^= 1 << dice.randrange(8)
    file.write_bytes(damaged)


def _mix(dice: random.Random, sound: bytes, file: Path) -> None:
    """Half-copied: one page lies where another should."""
    pages = [sound[i : i + 4096] for i in range(0, len(sound), 4096)]
    one, other = dice.randrange(len(pages)), dice.randrange(len(pages))
    pages[one] = pages[other]
    file.write_bytes(b"".join(pages))


def _write(dice: random.Random, sound: bytes, file: Path) -> None:
    """A value that nobody can mean in one column."""
    table = dice.choice(list(COLUMNS))
    column = dice.choice(COLUMNS[table])
    value = dice.choice([*TEXTS, -1, 2.5, 10**18, 1e308, b"\xff\xfe", None])
    _execute(sound, file, f"UPDATE OR IGNORE {table} SET {column} = ?", value)


def _drop(dice: random.Random, sound: bytes, file: Path) -> None:
    """A table, a column, a version that is not ours."""
    table = dice.choice(["runs", "points", "arrays", "study_runs"])
    ours = [f"DROP TABLE {table}", f"ALTER TABLE {table} RENAME TO other", f"DELETE FROM {table}"]
    versions = [f"PRAGMA user_version = {version}" for version in (99, -1, 1)]
    statement = dice.choice([*ours, *versions, "PRAGMA application_id = 7", "CREATE TABLE more (x)"])
    _execute(sound, file, statement)


def _execute(sound: bytes, file: Path, statement: str, *values: object) -> None:
    file.write_bytes(sound)
    db = sqlite3.connect(file)
    try:
        db.execute(statement, values)
        db.commit()
    except sqlite3.Error:
        pass  # the schema refuses it: then the store is sound, and must be read
    db.close()
